#!/usr/bin/env bash
# kills_test.sh BIN_DIR SOURCE_DIR [KILLS=200]: kill -9 at random moments of runs of 50 short tasks, each followed by a resume.
# A third of the kills hit only coordinators: then every agent must have run exactly once. The others hit a worker, or all
# workers, or everything: then a task may run again, but never twice at a time, and each ends exactly once.
BIN=$1
SOURCE=$2
KILLS=${3:-200}
TASKS=50
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE/tests/e2e/lib.sh"

: "${ARENA_TEST_SEED:=$$}"
RANDOM=$ARENA_TEST_SEED
echo "seed $ARENA_TEST_SEED (repeat with ARENA_TEST_SEED=$ARENA_TEST_SEED; the moments still differ)"
make_tasks tasks "$TASKS"
mkdir locks

# The agent proves that it is alone on its task, and notes that it ran.
cat >agent.sh <<'SH'
exec 9>>"$1/locks/$(basename "$2")"
flock -n 9 || echo "$2" >>"$1/overlaps"
echo "$2" >>"$1/executed"
SH
cat >config.yaml <<YAML
agent:
  template: command
  command: [sh, $PWD/agent.sh, $PWD, "{task_name}"]
tasks: [all]
target_gpu_model: CPU
max_attempts: 100
YAML

workers_of() { pgrep -f "arena-worker --run-dir $PWD/$1 "; }

kill_coordinator() {
  kill -9 "$coordinator" 2>/dev/null
  wait "$coordinator" 2>/dev/null
}
kill_a_worker() { workers_of "$1" | shuf -n 1 | xargs -r kill -9 2>/dev/null; }
kill_all_workers() { workers_of "$1" | xargs -r kill -9 2>/dev/null; }

start() {
  "$COORD" --tasks-dir tasks --cpu-slots 2 -q "$@" >>coordinator.out 2>&1 &
  coordinator=$!
}

# Waits a random part of a second, or until the coordinator has ended.
random_moment() {
  local end=$((RANDOM % 40))
  for ((i = 0; i < end; ++i)); do
    is_gone "$coordinator" && return
    sleep 0.01
  done
}

one_run() {  # one_run KIND: kills until the run has ended by itself
  local kind=$1 run
  rm -rf workspace_* executed overlaps coordinator.out
  start --config config.yaml
  wait_for 60 has_run || { cat coordinator.out; exit 1; }
  run=$(newest_run)
  while [ "$kills" -lt "$limit" ]; do
    random_moment
    is_gone "$coordinator" && break
    case "$kind$((RANDOM % 4))" in
      coordinator*) kill_coordinator ;;
      mixed0) kill_a_worker "$run" ;;
      mixed1) kill_coordinator; kill_a_worker "$run" ;;
      mixed*) kill_coordinator; kill_all_workers "$run" ;;
    esac
    kills=$((kills + 1))
    is_gone "$coordinator" && start --resume-run "$run"
  done
  wait "$coordinator"
  "$COORD" --resume-run "$run" -q >>coordinator.out 2>&1 || { tail -n 20 coordinator.out; echo "     the last resume failed"; }
}

executed_once() { same "$(sort executed | uniq -c | grep -c '^ *1 ')" "$TASKS" && same "$(wc -l <executed)" "$TASKS"; }
executed_all() { same "$(sort -u executed | wc -l)" "$TASKS"; }
no_overlap() { [ ! -e overlaps ] || { sort overlaps | uniq -c; return 1; }; }
all_completed() { same "$(grep -c '"cause":"completed"' "$1/reports/results.jsonl")" "$TASKS"; }

campaign() {  # campaign KIND LIMIT
  local kind=$1 runs=0 run
  kills=0
  limit=$2
  while [ "$kills" -lt "$limit" ]; do
    one_run "$kind"
    runs=$((runs + 1))
    run=$(newest_run)
    before=$failed
    check "$kind run $runs ($kills kills so far): every task ended exactly once" all_ended "$run" "$TASKS"
    check "$kind run $runs: none failed" same "$(count "$run" failed)" 0
    check "$kind run $runs: every result is whole and of its attempt" all_completed "$run"
    check "$kind run $runs: no two agents at a time on one task" no_overlap
    check "$kind run $runs: no process is left" no_process_left "$run"
    if [ "$kind" = coordinator ]; then
      check "$kind run $runs: every agent ran exactly once" executed_once
    else
      check "$kind run $runs: every agent ran" executed_all
    fi
    if [ "$failed" -ne "$before" ]; then
      tail -n 30 coordinator.out
      summary
      exit 1
    fi
  done
}

campaign coordinator $((KILLS / 3))
campaign mixed $((KILLS - KILLS / 3))
summary
