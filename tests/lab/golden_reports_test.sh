#!/usr/bin/env bash
# golden_reports_test.sh PROGRAMS SOURCES: `arena-coord report` on runs of v0.2 writes the very bytes that v0.2 wrote. Runs on
# our own samples (tests/data/reports) and, where the archive is there, on real ones: ARENA_SHARED_DATA, or shared/data beside
# the checkout, holds agentkernelarena-reports.tar.gz, which is not part of the project.
set -uo pipefail
programs=$1 sources=$2
archive=${ARENA_SHARED_DATA:-$sources/../shared/data}/agentkernelarena-reports.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# check RUN EXPECTED: reports on a copy of RUN without reports and compares with the files in EXPECTED.
check() {
  local copy=$work/copy
  rm -rf "$copy"
  mkdir -p "$copy/$(basename "$(dirname "$1")")"
  cp -r "$1" "$copy/$(basename "$(dirname "$1")")/"
  local run
  run=$copy/$(basename "$(dirname "$1")")/$(basename "$1")
  chmod -R u+w "$copy"
  rm -rf "$run/reports"
  "$programs/arena-coord" report "$run" >"$work/output" 2>&1
  for file in overall_summary.csv task_type_breakdown.json overall_report.txt; do
    if cmp "$2/$file" "$run/reports/$file"; then
      echo "same: $(basename "$1")/$file"
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      tail -n 5 "$work/output"
    fi
  done
}

samples=$sources/tests/data/reports
check "$samples/workspace_MI250_my_agent/run_20260102_030405_own" "$samples/expected"

if [ -r "$archive" ]; then
  mkdir "$work/real"
  tar -xzf "$archive" -C "$work/real" || failed=$((failed + 1))
  runs=0
  for run in "$work"/real/*/run_*; do
    [ -d "$run/reports" ] || continue
    runs=$((runs + 1))
    check "$run" "$run/reports"
  done
  if [ "$runs" -eq 0 ]; then
    echo "$archive holds no run with reports"
    failed=$((failed + 1))
  fi
else
  echo "ABSENT: $archive. Compared with our own samples only, not with reports that v0.2 wrote."
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
