#!/usr/bin/env bash
# steps_test.sh BIN_DIR SOURCE_DIR: stops a program dead at every marked step of enqueue, claim, finish, hand back, requeue, archive
# and adopt, and checks that the run recovers from there. Uses the test build of the programs (build/steps), which differs
# from the shipped one by a hook at each step only.
BIN=$1
SOURCE=$2
STEPS=$BIN/../steps
TASKS=4
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE/tests/e2e/lib.sh"

# The steps that the sources mark; a test of each is named below, and a new one without a test is a failure.
marked() { grep -rhoE '\bstep\("[a-z_.]+"\)' "$SOURCE"/{common,coordinator,worker} | sed 's/.*"\(.*\)".*/\1/' | sort -u; }
: >tested

mkdir bin
cp "$STEPS/arena-coord" bin/arena-coord
ln -s "$BIN/../share" ./share 2>/dev/null
# The first worker that starts gets the step, every later one does not.
cat >bin/arena-worker <<SH
#!/bin/sh
if [ -n "\$(cat $PWD/worker_step)" ] && mkdir $PWD/step_taken 2>/dev/null; then
  export ARENA_TEST_STEP="\$(cat $PWD/worker_step)"
fi
exec $STEPS/arena-worker "\$@"
SH
chmod +x bin/arena-worker
COORD=$PWD/bin/arena-coord

cat >agent.sh <<'SH'
exec 9>>"$1/locks/$(basename "$2")"
flock -n 9 || echo "$2" >>"$1/overlaps"
echo "$2" >>"$1/executed"
echo "int kernel() { return 1; }" >src/kernel.cc
SH
cat >config.yaml <<YAML
agent:
  template: command
  command: [sh, $PWD/agent.sh, $PWD, "{task_name}"]
tasks: [all]
target_gpu_model: CPU
YAML
make_tasks tasks "$TASKS"

fresh() {
  rm -rf workspace_* logs executed overlaps step_taken locks out
  mkdir locks
  : >executed
  echo "${1:-}" >worker_step
}
run_coordinator() { "$COORD" --tasks-dir tasks --cpu-slots 1 -q "$@" >>out 2>&1; }
start_coordinator() {
  "$COORD" --tasks-dir tasks --cpu-slots 1 -q "$@" >>out 2>&1 &
  coordinator=$!
}
no_overlap() { [ ! -e overlaps ]; }
recovered() {  # recovered STEP RUN
  check "$1: every task ended exactly once" all_ended "$2" "$TASKS"
  check "$1: none failed" same "$(count "$2" failed)" 0
  check "$1: every result is whole and of its attempt" same "$(grep -c '"cause":"completed"' "$2/reports/results.jsonl")" "$TASKS"
  check "$1: no two agents at a time on one task" no_overlap
  check "$1: no process is left" no_process_left "$2"
  [ "$failed" -eq 0 ] || tail -n 5 out
}

# --- Steps of a worker: it dies there, the coordinator puts its task back and starts another one. ---
worker_step() {  # worker_step STEP EXECUTIONS: how often the agents of the four tasks run in all
  fresh "$1"
  echo "${1%%:*}" >>tested
  run_coordinator --config config.yaml
  check "$1: the worker stopped there" test -d step_taken
  recovered "$1" "$(newest_run)"
  check "$1: finished work was kept" same "$(wc -l <executed)" "$2"
}
worker_step claim.renamed 4
worker_step claim.written 4
worker_step claim.written:2 4
worker_step attempt.setup 4
worker_step attempt.baseline 4
worker_step attempt.agent 5   # the agent has ended, its candidate is not yet published: it runs again
worker_step attempt.candidate 4
worker_step attempt.evaluated 4
worker_step result.written 4
worker_step finish.rewritten 4
worker_step finish.moved 4
worker_step finish.moved:4 4

# A worker is killed in the middle of a task; the next one archives that attempt's workspace and dies there in turn.
fresh attempt.archived
echo attempt.archived >>tested
rm -rf first
cat >first_waits.sh <<SH
if mkdir $PWD/first 2>/dev/null; then sleep 600; fi
. $PWD/agent.sh
SH
sed "s|command: .*|command: [sh, $PWD/first_waits.sh, $PWD, \"{task_name}\"]|" config.yaml >first_waits.yaml
start_coordinator --config first_waits.yaml
wait_for 60 test -d first
run=$(newest_run)
kill -9 "$(sed -n 's/^pid: //p' "$run/.parallel/workers/0.1.yaml")"
wait "$coordinator"
check "attempt.archived: the worker stopped there" test -d step_taken
recovered attempt.archived "$run"

# --- Handing back: a worker that is told to stop dies on the way. ---
for step in handback.rewritten handback.moved; do
  fresh "$step"
  echo "$step" >>tested
  rm -rf first
  start_coordinator --config first_waits.yaml
  wait_for 60 test -d first
  run=$(newest_run)
  "$COORD" stop "$run" --now -q >>out 2>&1
  wait "$coordinator"
  check "$step: the worker stopped there" test -d step_taken
  check "$step: no process is left after stop" no_process_left "$run"
  run_coordinator --resume-run "$run"
  recovered "$step" "$run"
done

# --- Steps of the coordinator: it dies there; the resume (or, before the queue exists, a new start) completes the run. ---
coordinator_step() {  # coordinator_step STEP: while starting a run
  fresh
  echo "${1%%:*}" >>tested
  ARENA_TEST_STEP=$1 run_coordinator --config config.yaml
  check "$1: the coordinator stopped there" same $? 137
  if has_run; then
    run=$(newest_run)
    run_coordinator --resume-run "$run"
  else
    run_coordinator --config config.yaml
    run=$(newest_run)
  fi
  recovered "$1" "$run"
  check "$1: every agent ran once" same "$(sort executed | uniq | wc -l) $(wc -l <executed)" "$TASKS $TASKS"
}
coordinator_step run.created
coordinator_step run.recorded
coordinator_step enqueue.built
coordinator_step enqueue.synced
coordinator_step enqueue.published
coordinator_step launch.locked
coordinator_step launch.started

# A run whose coordinator and only worker died in the middle of a task; the resume dies at STEP, the next one completes.
broken_run() {
  fresh claim.written
  start_coordinator --config config.yaml
  wait_for 60 test -d step_taken
  kill -9 "$coordinator"
  wait "$coordinator" 2>/dev/null
  run=$(newest_run)
}
for step in recover.planned recover.step; do
  broken_run
  echo "$step" >>tested
  ARENA_TEST_STEP=$step run_coordinator --resume-run "$run"
  status=$?
  check "$step: the coordinator stopped there, or had nothing to recover" test "$status" = 137 -o "$status" = 0
  run_coordinator --resume-run "$run"
  recovered "$step" "$run"
done

# Failed tasks that go back: every agent fails its task once, by leaving a workspace that cannot be set up again.
for step in requeue.rewritten requeue.moved; do
  fresh
  echo "$step" >>tested
  run_coordinator --config config.yaml
  run=$(newest_run)
  ARENA_TEST_STEP=$step "$COORD" retry "$run" cpp2cpp/t001 -q >>out 2>&1
  check "$step: the coordinator stopped there" same $? 137
  run_coordinator --resume-run "$run"
  recovered "$step" "$run"
done

# A coordinator dies while a worker works on; the next one dies while it adopts, the third one completes.
for step in adopt.opened adopt.watching; do
  fresh
  echo "$step" >>tested
  rm -rf gate first
  cat >waits.sh <<SH
mkdir $PWD/first 2>/dev/null
until [ -e $PWD/gate ]; do sleep 0.05; done
. $PWD/agent.sh
SH
  sed "s|command: .*|command: [sh, $PWD/waits.sh, $PWD, \"{task_name}\"]|" config.yaml >waiting.yaml
  start_coordinator --config waiting.yaml
  wait_for 60 test -d first
  kill -9 "$coordinator"
  wait "$coordinator" 2>/dev/null
  run=$(newest_run)
  ARENA_TEST_STEP=$step run_coordinator --resume-run "$run"
  check "$step: the coordinator stopped there" same $? 137
  touch gate
  run_coordinator --resume-run "$run"
  recovered "$step" "$run"
  check "$step: every agent ran once" same "$(wc -l <executed)" "$TASKS"
done

check "every marked step has its test" same "$(sort -u tested | tr '\n' ' ')" "$(marked | tr '\n' ' ')"
summary
