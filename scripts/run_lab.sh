#!/usr/bin/env bash
# Runs tests/lab/*_test.sh one after the other, as root: each gets the directory of the programs and that of the sources, and
# ends with 'N passed, N failed'. One that does not say so, is not executable or runs out of time counts as failed.
# Prints the sum as its last line and leaves it in build/counts/lab.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
mkdir -p build/counts build/lab
rm -f build/counts/lab
if [ "$(id -u)" -ne 0 ]; then
  echo "run_lab.sh: the lab starts container engines and stand-in machines and needs root; run: sudo make test-lab" >&2
  exit 1
fi

passed=0 failed=0
shopt -s nullglob
tests=(tests/lab/*_test.sh)
if [ ${#tests[@]} -eq 0 ]; then echo "tests/lab holds no test: nothing was run"; fi
for test in "${tests[@]}"; do
  name=$(basename "$test" .sh) start=$SECONDS
  log=build/lab/$name.log
  if [ -x "$test" ]; then
    timeout --kill-after=30 1200 "$test" "$PWD/build/bin" "$PWD" >"$log" 2>&1 </dev/null
    status=$?
  else
    echo "$test is not executable" >"$log"
    status=126
  fi
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    ok=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
  else
    ok=0 bad=1
  fi
  if [ $status -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  if [ "$ok" -eq 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  if [ "$bad" -gt 0 ]; then cat "$log"; fi
  echo "$name: $ok passed, $bad failed, exit $status, $((SECONDS - start)) s (log: $log)"
  passed=$((passed + ok)) failed=$((failed + bad))
done
echo "$passed $failed" >build/counts/lab
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
