# shellcheck shell=bash disable=SC2010,SC2012,SC2034  # names here are ours: no blanks, no newlines
# What end-to-end scripts share: `. "$SOURCE/tests/e2e/lib.sh"` after BIN and SOURCE are set. A script runs in an empty
# directory of its own, calls `check NAME COMMAND…` for each expectation and ends with `summary`.
set -u
passed=0
failed=0

COORD=$BIN/arena-coord

# check NAME COMMAND…: the command must succeed.
check() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok   $name"
  else
    failed=$((failed + 1))
    echo "FAIL $name: $*"
  fi
}

summary() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}

# make_tasks DIR N [SECONDS]: N tasks quick/t001… whose performance step takes SECONDS (default 0) and needs only a shell.
make_tasks() {
  local directory=$1 count=$2 seconds=${3:-0} i name
  for ((i = 1; i <= count; ++i)); do
    name=$(printf '%s/cpp2cpp/t%03d' "$directory" "$i")
    mkdir -p "$name/src"
    echo "int kernel();" >"$name/src/kernel.cc"
    cat >"$name/config.yaml" <<YAML
task_type: cpp2cpp
source_file_path: [src/kernel.cc]
target_kernel_functions: [kernel]
compile_command: ["true"]
correctness_command: ["true"]
performance_command:
  - "sleep $seconds; mkdir -p build; echo '[{\"test_case_id\": \"a\", \"execution_time_ms\": 1.5}]' > build/performance_report.json"
YAML
  done
}

# make_config FILE [AGENT]: every task of the tasks directory with an agent that does nothing (or another one).
make_config() {
  printf 'agent:\n  template: %s\ntasks: [all]\ntarget_gpu_model: CPU\n' "${2:-nop}" >"$1"
}

newest_run() { ls -d workspace_*/run_* | sort -t/ -k2 | tail -n 1; }
count() { ls "$1/.parallel/$2" | grep -c '\.yaml$'; }
counts() { echo "$(count "$1" pending) $(count "$1" running) $(count "$1" "done") $(count "$1" failed)"; }

# wait_for SECONDS COMMAND…: until the command succeeds; the time is only the limit of patience.
wait_for() {
  local limit=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$limit" ] || return 1
    sleep 0.05
  done
}

is_running() { [ "$(count "$1" running)" -ge "${2:-1}" ]; }
has_run() { ls workspace_*/run_*/.parallel >/dev/null 2>&1; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }

# Processes that carry this run's mark in their environment, whoever their parent is.
run_id() { sed -n 's/^run_id: *"\{0,1\}\([0-9a-f]*\)"\{0,1\}$/\1/p' "$1/run.yaml"; }
marked_processes() {
  local id
  id=$(run_id "$1")
  grep -lsazE "^ARENA_WORKER=$id/" /proc/[0-9]*/environ | grep -c .
}
no_process_left() { [ "$(marked_processes "$1")" -eq 0 ]; }

# executions RUN: how many attempts were begun, over all tasks, as the ledger has it.
executions() { cat "$1"/.parallel/events/*.jsonl | grep -c '"kind": *"claim"'; }

# Every planned task in exactly one of done/ and failed/, none anywhere else.
all_ended() {
  local planned=$2 names
  names=$(ls "$1"/.parallel/done "$1"/.parallel/failed | grep '\.yaml$' | sed 's/^.*__//' | sort)
  [ "$(echo "$names" | grep -c .)" -eq "$planned" ] && [ "$(echo "$names" | uniq | grep -c .)" -eq "$planned" ] &&
    [ "$(count "$1" pending)" -eq 0 ] && [ "$(count "$1" running)" -eq 0 ]
}

same() { [ "$1" = "$2" ] || { echo "     expected '$2', got '$1'"; return 1; }; }
contains() { grep -qF -- "$2" "$1" || { echo "     no '$2' in $1:"; sed 's/^/     | /' "$1"; return 1; }; }
