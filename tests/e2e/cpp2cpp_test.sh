#!/usr/bin/env bash
# Checks the CPU tasks: cpp2cpp_test.sh BIN_DIR SOURCE_DIR (the programs are not needed: a task runs standing alone)
#
# For each task under SOURCE_DIR/tasks/cpp2cpp, in copies: the baseline builds, is correct and reports times; so does
# the reference solution, for the same cases; the wrong kernels in tests/data/cpp2cpp_controls are caught.
# One line for each check; exit code 1 if one fails. Needs g++; says nothing about how long anything takes.
set -u

if [ $# -ne 2 ] || [ ! -d "$2/tasks/cpp2cpp" ]; then
  echo "usage: $0 BIN_DIR SOURCE_DIR" >&2
  exit 2
fi
tasks=$2/tasks
controls=$2/tests/data/cpp2cpp_controls
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# check NAME COMMAND...: prints ok or FAIL, the latter with the end of the latest step's output.
check() {
  local name=$1
  shift
  if "$@"; then
    echo "ok   $name"
  else
    echo "FAIL $name"
    tail -n 5 "$log" | sed 's/^/       /'
    return 1
  fi
}

# step COPY KIND: runs the shell lines under KIND_command in the copy's config.yaml, up to the first that fails.
step() {
  local lines line
  lines=$(awk -v key="$2_command:" '$0 == key {on = 1; next} /^[^ ]/ {on = 0} on && sub(/^  - /, "")' \
    "$1/config.yaml")
  [ -n "$lines" ] || { echo "no $2_command in config.yaml" > "$log"; return 1; }
  while read -r line; do
    (cd "$1" && sh -c "$line") < /dev/null || return 1
  done <<< "$lines" > "$log" 2>&1
}

# report COPY: three cases or more, each with a time above 0. Leaves their ids in COPY/cases.
report() {
  sed -n 's/.*"test_case_id": "\([^"]*\)", "execution_time_ms": \([^,]*\),.*/\1 \2/p' \
    "$1/build/performance_report.json" | awk '{print $1} !($2 > 0) {bad = 1} END {exit bad || NR < 3}' > "$1/cases"
}

# evaluate COPY NAME
evaluate() {
  local kind
  for kind in compile correctness performance; do
    check "$2: $kind" step "$1" "$kind" || return 1
  done
  check "$2: report" report "$1"
}

# caught COPY KIND TEXT: the step fails, and a FAIL line with the text says why.
caught() {
  ! step "$1" "$2" && grep '^FAIL ' "$log" | grep -qF "$3"
}

# test_control COPY KERNEL NAME: the first line of the wrong kernel, already in the copy, says what must catch it.
test_control() {
  local kind text
  kind=$(sed -n '1s|^// must fail \([a-z]*\): .*|\1|p' "$2")
  text=$(sed -n '1s|^// must fail [a-z]*: ||p' "$2")
  check "$3: compile" step "$1" compile || return 1
  [ "$kind" = correctness ] || check "$3: correctness is deceived" step "$1" correctness
  check "$3: caught by $kind" caught "$1" "$kind" "$text"
  [ "$kind" = correctness ] || check "$3: no report" test ! -e "$1/build/performance_report.json"
}

# test_task NAME
test_task() {
  local dir=$scratch/$1 control
  local log=$dir/log
  mkdir "$dir"
  cp -rL "$tasks/cpp2cpp/$1" "$dir/pristine"
  cp -r "$dir/pristine" "$dir/baseline"
  cp -r "$dir/pristine" "$dir/solution"
  cp -r "$dir/pristine/solution/." "$dir/solution/"
  evaluate "$dir/baseline" "$1 baseline"
  evaluate "$dir/solution" "$1 solution"
  check "$1: baseline and solution report the same cases" cmp -s "$dir/baseline/cases" "$dir/solution/cases"
  for control in "$controls/$1"/*.cc; do
    [ -e "$control" ] || continue
    rm -rf "$dir/control"
    cp -r "$dir/pristine" "$dir/control"
    cp "$control" "$dir/control/src/$1.cc"
    test_control "$dir/control" "$control" "$1 $(basename "$control" .cc)"
  done
}

# Two tasks at a time.
names=()
for config in "$tasks"/cpp2cpp/*/config.yaml; do
  [ -e "$config" ] || { echo "no tasks in $tasks/cpp2cpp" >&2; exit 1; }
  name=$(basename "$(dirname "$config")")
  [ ${#names[@]} -lt 2 ] || wait -n
  names+=("$name")
  test_task "$name" > "$scratch/$name.out" 2>&1 &
done
wait
for name in "${names[@]}"; do cat "$scratch/$name.out"; done
for control in "$controls"/*/; do
  [ -e "$tasks/cpp2cpp/$(basename "$control")/config.yaml" ] || echo "FAIL $control is of no task"
done | tee "$scratch/controls.out"

passed=$(cat "$scratch"/*.out | grep -c '^ok')
failed=$(cat "$scratch"/*.out | grep -c '^FAIL')
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
