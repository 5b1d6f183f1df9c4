#!/usr/bin/env bash
# Every task configuration of AgentKernelArena's tree is understood: unpacks the archive of them, where one lies beside the
# checkout, and lists its tasks. Usage: task_configs_test.sh PROGRAMS SOURCES; ends with 'N passed, N failed'.
set -uo pipefail
programs=$1 sources=$2
archive=$sources/../shared/data/agentkernelarena-task-configs.tar.gz
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# As many tasks as there are configurations, and none of them with an error (a remark with file and line).
check_tree() {
  local tree=$1 expected listed broken
  expected=$(find "$tree" -name config.yaml | wc -l)
  "$programs/arena-coord" tasks --tasks-dir "$tree" --json >"$work/list.json"
  listed=$(grep -o '"name":' "$work/list.json" | wc -l)
  broken=$(grep -Eo 'config\.yaml:[0-9]+: [^"]*' "$work/list.json")
  if [ "$expected" -gt 0 ] && [ "$listed" -eq "$expected" ] && [ -z "$broken" ]; then
    echo "$listed tasks of $tree: all understood"
    passed=$((passed + 1))
  else
    echo "FAILED: $tree has $expected tasks, $listed were listed; with errors: ${broken:-none}"
    failed=$((failed + 1))
  fi
}

for sample in "$sources"/tests/data/fuzz/task_spec/v?_*.yaml; do
  name=$(basename "$sample" .yaml)
  mkdir -p "$work/samples/$name"
  cp "$sample" "$work/samples/$name/config.yaml"
done
check_tree "$work/samples"

if [ -f "$archive" ]; then
  mkdir "$work/arena"
  tar -xzf "$archive" -C "$work/arena"
  check_tree "$work/arena/tasks"
else
  echo "no archive '$archive': only the samples of this project were tried"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
