#!/usr/bin/env bash
# Tasks that fail, --halt, --retry-failed, and results that were lost.
# shellcheck disable=SC2010,SC2012,SC2034  # names here are ours: no blanks, no newlines
BIN=$1
SOURCE=$2
# shellcheck source=tests/e2e/lib.sh
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE/tests/e2e/lib.sh"

make_tasks tasks 6
make_config run.yaml
run() { "$COORD" --tasks-dir tasks "$@" >out 2>err; }

# --- results and entries that were lost ---
run --config run.yaml --cpu-slots 1
RUN=$(newest_run)
rm "$RUN"/*t004*/task_result.yaml
run --resume-latest
check "a done task without its result runs again" same "$? $(executions "$RUN")" "0 7"
check "and that is said" contains err "task_result.yaml is missing"

for result in "$RUN"/*t005*/task_result.yaml; do head -c 100 "$result" >part && cp part "$result"; done
run --resume-latest
check "a cut result runs again" same "$? $(executions "$RUN")" "0 8"

for entry in "$RUN"/.parallel/done/*t006.yaml; do echo junk >"$entry"; done
run --resume-latest
check "an unreadable entry is set aside and made anew" same "$? $(counts "$RUN")" "0 0 0 6 0"
check "and kept with its reason" test -n "$(ls "$RUN"/.parallel/corrupt/*.reason)"

# --- failing tasks ---
make_config command.yaml command
sed -i 's/template: command/template: command\n  command: [\/nonexistent\/program]/' command.yaml
run --config command.yaml --cpu-slots 1 --halt soon,fail=2
check "halt soon,fail=2 ends the run with 1" same $? 1
RUN=$(newest_run)
check "after two failures" same "$(count "$RUN" failed)" 2
check "the rest stays pending" same "$(count "$RUN" pending)" 4
check "the command that goes on is printed" contains out "arena-coord --resume-run"
run --resume-latest
check "a resume fails the rest too" same "$? $(counts "$RUN")" "1 0 0 0 6"
check "failed tasks have their row in the report" same "$(wc -l <"$RUN/reports/overall_summary.csv")" 7
executed=$(executions "$RUN")
run --resume-latest
check "failed tasks are not tried again by themselves" same "$? $(executions "$RUN")" "1 $executed"
run --resume-latest --retry-failed
check "but with --retry-failed" same "$? $(executions "$RUN")" "1 $((executed + 6))"
summary
