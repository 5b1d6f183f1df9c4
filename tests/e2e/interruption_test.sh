#!/usr/bin/env bash
# Signals, stop, a killed coordinator, adoption, two coordinators, changed files: every way to leave and to come back.
# shellcheck disable=SC2010,SC2012,SC2034  # names here are ours: no blanks, no newlines
BIN=$1
SOURCE=$2
# shellcheck source=tests/e2e/lib.sh
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE/tests/e2e/lib.sh"

make_config run.yaml
begin() {  # begin DIR TASKS SECONDS ARGS…: starts a coordinator in the background and waits until two tasks run
  mkdir -p "$1" && cd "$1" || exit 1
  make_tasks tasks "$2" "$3"
  shift 3
  # Job control gives it a process group of its own and default signals, as a shell gives a person's command.
  set -m
  "$COORD" --config ../run.yaml --tasks-dir tasks --cpu-slots 2 "$@" >out 2>err &
  COORDINATOR=$!
  set +m
  wait_for 60 has_run && RUN=$(newest_run) && wait_for 60 is_running "$RUN" 2 && return
  echo "the run did not start"
  cat out err
  exit 1
}
resume() { "$COORD" --resume-latest "$@" >out 2>err; }
ended_with() { wait "$COORDINATOR"; same $? "$1"; }

# --- two coordinators ---
begin two 4 2
before=$(cd "$RUN" && find . -name coordinator.lock -o -path './.parallel/pending/*' | sort)
resume
check "a second coordinator leaves with 2" same $? 2
check "in one line" same "$(wc -l <err)" 1
check "that says who is there" contains err "is in use"
check "and changes nothing" same "$(cd "$RUN" && find . -name coordinator.lock -o -path './.parallel/pending/*' | sort)" "$before"
"$COORD" retry "$RUN" cpp2cpp/t001 >out2 2>err
check "retry is refused meanwhile" same $? 2
"$COORD" status "$RUN" >out2
check "status shows both workers" same "$(grep -c '^worker' out2)" 2
check "the first one finishes" ended_with 0
check "every task ran once" same "$(executions "$RUN") $(counts "$RUN")" "4 0 0 4 0"
cd ..

# --- Ctrl-C ---
begin drain 6 2
kill -INT "$COORDINATOR"
check "Ctrl-C drains and ends with 130" ended_with 130
check "running tasks finished" same "$(counts "$RUN")" "4 0 2 0"
check "how to stop at once is said" contains out "once more"
check "the resume command is printed" contains out "arena-coord --resume-run $PWD/$RUN"
check "no process is left" no_process_left "$RUN"
resume
check "the resume runs the rest" same "$? $(executions "$RUN") $(counts "$RUN")" "0 6 0 0 6 0"
cd ..

begin stopnow 3 30
kill -TERM "$COORDINATOR"
wait_for 20 contains out "once more"
kill -TERM "$COORDINATOR"
check "a second SIGTERM stops at once with 143" ended_with 143
check "interrupted tasks are pending again" same "$(counts "$RUN")" "3 0 0 0"
check "no process is left" no_process_left "$RUN"
cd ..

# --- hangup ---
begin hangup 4 1
kill -HUP "$COORDINATOR"
check "a hangup stops nothing" ended_with 0
check "every task is done" same "$(counts "$RUN")" "0 0 4 0"
check "the log tells the rest" grep -q 't004: completed' logs/*_parallel_init.log
cd ..

begin pipe 4 1 --json
check "a run with JSON events ends well" ended_with 0
check "each line is JSON" python3 -c 'import json
for line in open("out"): json.loads(line)'
cd ..

# --- kill -9 of the coordinator, adoption ---
begin adopt 5 3
kill -KILL "$COORDINATOR"
wait "$COORDINATOR" 2>/dev/null
check "workers go on without their coordinator" test "$(marked_processes "$RUN")" -ge 2
"$COORD" status "$RUN" >out2
check "status sees workers without a coordinator" contains out2 "without a coordinator"
resume --cpu-slots 2
check "the resume ends well" same $? 0
check "it adopted both workers" same "$(grep -c 'alive and adopted' out)" 2
check "every task ran exactly once" same "$(executions "$RUN") $(counts "$RUN")" "5 0 0 5 0"
check "no process is left" no_process_left "$RUN"
cd ..

begin fewer 5 2
kill -KILL "$COORDINATOR"
wait "$COORDINATOR" 2>/dev/null
resume --cpu-slots 1
check "a resume with fewer slots ends well" same $? 0
check "the surplus worker leaves after its task" contains out "leaves after its task"
check "every task ran exactly once" same "$(executions "$RUN") $(counts "$RUN")" "5 0 0 5 0"
cd ..

# --- a killed worker ---
begin worker 3 2
"$COORD" status "$RUN" --json >out2
kill -KILL "$(python3 -c 'import json; print(json.load(open("out2"))["workers"][0]["pid"])')"
check "a killed worker is replaced" ended_with 0
check "its task ran again" same "$(executions "$RUN") $(counts "$RUN")" "4 0 0 3 0"
check "no process is left" no_process_left "$RUN"
cd ..

# --- stop ---
begin stop 5 2
"$COORD" stop "$RUN" >out2
check "stop drains a live run" ended_with 1
check "running tasks finished" same "$(counts "$RUN")" "3 0 2 0"
"$COORD" stop "$RUN" >out2
check "stop of a stopped run says so" contains out2 "nothing works on"
cd ..

begin stophard 3 30
"$COORD" stop "$RUN" --now >out2
check "stop --now ends with 0" same $? 0
check "the coordinator is gone too" ended_with 1
check "no process is left" no_process_left "$RUN"
check "every task is pending" same "$(counts "$RUN")" "3 0 0 0"
check "the resume command is printed" contains out2 "--resume-run"
cd ..

begin orphans 3 30
kill -KILL "$COORDINATOR"
wait "$COORDINATOR" 2>/dev/null
"$COORD" stop "$RUN" --now >out2
check "stop --now ends orphaned workers" same $? 0
check "no process is left" no_process_left "$RUN"
check "their tasks are pending" same "$(counts "$RUN")" "3 0 0 0"

# --- what changed in between ---
sed -i 's/^task_type/# changed\ntask_type/' tasks/cpp2cpp/t002/config.yaml
resume
check "a changed task is refused with 2" same $? 2
check "and named" contains err "cpp2cpp/t002"
sed -i '/^# changed/d' tasks/cpp2cpp/t002/config.yaml
printf 'agent:\n  template: nop\ntasks: [all]\ntarget_gpu_model: CPU\nperformance_timeout: 7\n' >changed.yaml
resume --config changed.yaml
check "a changed configuration is refused with 2" same $? 2
check "and the difference is shown" contains err "performance_timeout"
check "nothing was changed" same "$(counts "$RUN") $(ls "$RUN" | grep -c '^run')" "3 0 0 0 1"
for i in 1 2 3; do sed -i 's/sleep 30/sleep 0/' tasks/cpp2cpp/t00$i/config.yaml; done
cd ..

begin added 2 2
check "the first two are done" ended_with 0
make_tasks more 3 0 && mv more/cpp2cpp/t003 tasks/cpp2cpp/
resume
check "an added task is accepted" same "$? $(counts "$RUN")" "0 0 0 3 0"
check "and recorded" test -s "$RUN/run.2.yaml"
cd ..
summary
