#!/usr/bin/env bash
# full_disk_test.sh BIN_DIR SOURCE_DIR: a run on a small tmpfs that fills up stops claiming with a clear message and loses nothing;
# with room again it resumes to the end. Needs root for the mount.
BIN=$1
SOURCE=$2
TASKS=8
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE/tests/e2e/lib.sh"

work=$(mktemp -d)
trap 'cd /; umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir disk
mount -t tmpfs -o size=8m tmpfs disk || exit 1
make_tasks tasks "$TASKS"
cat >config.yaml <<YAML
agent:
  template: command
  command: [sh, -c, "head -c 2000000 /dev/zero >scratch.bin; true"]
tasks: [all]
target_gpu_model: CPU
YAML

"$COORD" --config config.yaml --tasks-dir tasks --workspace-root disk --cpu-slots 1 >out 2>&1
status=$?
cd disk || exit 1
run=$(newest_run)
done_before=$(count "$run" "done")
check "the run ends unfinished" same "$status" 1
check "the message names the cause" contains ../out "No space left on device"
check "the way on is printed" contains ../out "--resume-run"
check "some tasks were done before the disk was full" test "$done_before" -gt 0
check "none failed" same "$(count "$run" failed)" 0
check "all others wait, none is left running" same "$(count "$run" running) $(($(count "$run" pending) + done_before))" "0 $TASKS"
check "no process is left" no_process_left "$run"
find "$run/.parallel/done" -name '*.yaml' -printf '%f\n' | sort >../done_before

mount -o remount,size=100m "$work/disk"
check "with room again the run resumes to its end" "$COORD" --resume-run "$run" -q
check "every task ended exactly once" all_ended "$run" "$TASKS"
check "what was done stayed done" same "$(find "$run/.parallel/done" -name '*.yaml' -printf '%f\n' | sort | comm -23 ../done_before -)" ""
check "every result is whole" same "$(grep -c '"cause":"completed"' "$run/reports/results.jsonl")" "$TASKS"
summary
