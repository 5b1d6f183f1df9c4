#!/usr/bin/env bash
# A run from its configuration to its reports, and everything that must be refused before anything is created.
# shellcheck disable=SC2010,SC2012,SC2034  # names here are ours: no blanks, no newlines
BIN=$1
SOURCE=$2
# shellcheck source=tests/e2e/lib.sh
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE/tests/e2e/lib.sh"

make_tasks tasks 6
make_config run.yaml
run() { "$COORD" --tasks-dir tasks "$@" >out 2>err; }
nothing_created() { ! ls -d workspace_* logs >/dev/null 2>&1; }

# --- refused, with one line, before anything is created ---
refused() {
  local message=$1
  shift
  run "$@"
  same $? 2 && contains err "$message" && same "$(wc -l <err)" 1 && nothing_created
}
printf 'agent:\n  template: nop\ntasks: [all]\ntarget_gpu: CPU\n' >wrong_key.yaml
printf 'agent:\n  template: nop\ntasks: [cpp2cp]\n' >wrong_task.yaml
printf 'agent:\n  template: nobody\ntasks: [all]\n' >wrong_agent.yaml
printf 'agent:\n  template: nop\ntasks: [all]\ntarget_gpu_model: MI300X\n' >gpu.yaml
check "no configuration is named" refused "--config FILE is missing"
check "a configuration that is not there is named" refused "none.yaml" --config none.yaml
check "an unknown key is named with file and line" refused "wrong_key.yaml:4" --config wrong_key.yaml
check "a selector without tasks is named" refused "cpp2cp" --config wrong_task.yaml
check "an unknown agent is named" refused "nobody" --config wrong_agent.yaml
check "a GPU target without GPUs is refused" refused "target_gpu_model" --config gpu.yaml
check "docker is refused by name" refused "docker is not available in this build yet" --config run.yaml --launcher docker
check "an unknown flag is named" refused "unknown option '--slots'" --config run.yaml --slots 2
check "a resume without a run is refused" refused "there is no run below" --resume-latest

# --- dry run ---
run --config run.yaml --dry-run
check "a dry run succeeds" same $? 0
check "a dry run lists the tasks" contains out "cpp2cpp/t006"
check "a dry run creates nothing" nothing_created
run --config run.yaml --dry-run --json
check "a dry run speaks JSON" python3 -c 'import json; assert len(json.load(open("out"))["tasks"]) == 6'

# --- the run ---
run --config run.yaml --cpu-slots 2 --run-suffix first
check "a run ends with 0" same $? 0
RUN=$(newest_run)
check "the run's name carries the suffix" same "${RUN##*_}" first
check "every task is done" same "$(counts "$RUN")" "0 0 6 0"
check "every task has a result" same "$(ls "$RUN"/*/task_result.yaml | wc -l)" 6
check "without a terminal every event is a line" contains out "cpp2cpp/t003: evaluation"
check "reports are written" test -s "$RUN/reports/overall_summary.csv"
check "the log of the coordinator has v0.2's name" test -s "logs/CPU_nop_${RUN##*run_}_parallel_init.log"
check "no process is left" no_process_left "$RUN"
check "no lock of a worker is left" same "$(ls "$RUN/.parallel/workers" | grep -c '\.lock$')" 0

# --- looking at it ---
run status
check "status works without a configuration" contains out "6 done, 0 failed, 0 running, 0 pending"
"$COORD" status "${RUN##*/}" --json >out
check "status by name speaks JSON" python3 -c 'import json; assert json.load(open("out"))["counts"]["done"] == 6'
"$COORD" report "$RUN" >out
check "report is 0 for a finished run" same $? 0
"$COORD" tasks --tasks-dir tasks >out
check "tasks lists the catalog" contains out "cpp2cpp/t001"
"$COORD" doctor >out
check "doctor shows where PID namespaces stand" contains out "PID namespaces"

# --- a finished run resumed, a task retried, the rest removed ---
run --resume-latest
check "resuming a finished run succeeds" same $? 0
check "and executes nothing" same "$(executions "$RUN")" 6
"$COORD" retry "$RUN" cpp2cpp/t002 >out
check "retry puts a done task back" same "$(counts "$RUN")" "1 0 5 0"
"$COORD" retry "$RUN" cpp2cpp/t0002 >out 2>err
check "retry of an unknown task is refused" same $? 2
check "and names the nearest" contains err "did you mean 'cpp2cpp/t002'"
run --resume-latest
check "the resume runs what was put back" same "$? $(executions "$RUN") $(counts "$RUN")" "0 7 0 0 6 0"

"$COORD" clean "$RUN" >out 2>err </dev/null
check "clean asks first" same $? 2
check "and removes nothing unasked" test -d "$RUN"
"$COORD" clean "$RUN" --yes >out
check "clean removes a run" test ! -e "$RUN"
summary
