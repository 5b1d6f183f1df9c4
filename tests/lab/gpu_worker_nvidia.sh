#!/usr/bin/env bash
# gpu_worker_nvidia.sh BIN_DIR [OUT_DIR]: on a machine with an NVIDIA GPU and g++: a run whose worker is on GPU 0. Needs what
# check_nvidia.sh needs. OUT_DIR gets the result. Ends with 'N passed, N failed'.
set -u
cd "$(dirname "$0")/../.." || exit
bin=$(readlink -f "$1") out=${2:-.}
mkdir -p "$out"
root=$(mktemp -d)
passed=0 failed=0
check() {  # NAME COMMAND…
  if "${@:2}"; then passed=$((passed + 1)); echo "ok   $1"; else failed=$((failed + 1)); echo "FAIL $1"; fi
}
has() { grep -q -- "$2" "$1"; }
hasnt() { ! grep -q -- "$2" "$1"; }

# As installed: programs, and their data beside them.
mkdir -p "$root/bin" "$root/share/arena" "$root/tasks/cpp2cpp"
cp "$bin/arena-coord" "$bin/arena-worker" "$bin/arena-probe" "$root/bin/"
cp -r worker/agents worker/prompts "$root/share/arena/"
bin=$root/bin
cp -rL tasks/cpp2cpp/gelu "$root/tasks/cpp2cpp/gelu"
mkdir "$root/tasks/cpp2cpp/environment"
cp -rL tasks/cpp2cpp/gelu/. "$root/tasks/cpp2cpp/environment"
# A task that tells what it sees, and is slow enough for a second run to come meanwhile.
sed -i 's|^  - ./build/gelu --performance|  - env \| sort > build/seen.txt; nvidia-smi -L >> build/seen.txt; sleep 3; cat build/seen.txt; ./build/gelu --performance|' \
  "$root/tasks/cpp2cpp/environment/config.yaml"
printf 'agent:\n  template: oracle\ntasks: [all]\ntarget_gpu_model: H200\n' >"$root/config.yaml"
run() { (cd "$root" && "$bin/arena-coord" --config config.yaml --tasks-dir tasks "$@"); }

run --gpu-ids 99 >"$root/unknown.log" 2>&1
check "an unknown GPU is a usage error" test $? -eq 2
check "and creates nothing" test ! -e "$root/workspace_H200_oracle"
run --gpu-ids 0 >"$root/first.log" 2>&1 &
first=$!
until [ -n "$(find "$root" -path '*/.parallel/running/*.yaml' 2>/dev/null)" ]; do
  kill -0 $first 2>/dev/null || { cat "$root/first.log"; break; }
done
run --gpu-ids 0 >"$root/second.log" 2>&1
check "a second run cannot have the same GPU" test $? -eq 2
check "and is told who holds it" has "$root/second.log" "taken by worker 0.1 of"
run --gpu-ids 0 --wait-for-gpu --run-suffix waits >"$root/third.log" 2>&1
check "a run that waits gets it afterwards" test $? -eq 0
wait $first
check "the first run is all done" test $? -eq 0
result=$(find "$root" -path '*_waits/*' -name task_result.yaml | grep environment | head -1)
first_result=$(find "$root" -name task_result.yaml | grep -v _waits/ | grep environment | head -1)
cp "$first_result" "$out/nvidia_task_result.yaml"
address=$("$bin/arena-coord" gpus --json | python3 -c 'import json,sys; g=json.load(sys.stdin)[0]; print(g["pci_address"], g["unique_id"])')
for file in "$first_result" "$result"; do
  check "the result names the device's address" has "$file" "device: \"*${address% *}"
  check "and its UUID" has "$file" "unique_id: \"*${address#* }"
  check "and its runtime" has "$file" "cuda_runtime_version"
  check "and what it was doing" has "$file" "baseline_power_w_median"
done
seen=$(find "$root" -path '*/logs/performance*.log' | head -1)
check "tasks see this GPU only" has "$seen" "CUDA_VISIBLE_DEVICES=${address#* }"
check "and no AMD device" has "$seen" "^ROCR_VISIBLE_DEVICES=$"
check "run.yaml has the driver" has "$(find "$root" -name run.yaml | head -1)" "nvml driver"
cp "$(find "$root" -name run.yaml | head -1)" "$out/nvidia_run.yaml"
rm -rf "$root"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
