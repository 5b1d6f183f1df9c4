#!/usr/bin/env bash
# Runs the tests with the given labels and counts test cases, not programs: run_ctest.sh BUILD_DIR SUITE LABELS
# A doctest program counts as its cases, a script that ends with 'N passed, N failed' as those, anything else as one.
# Prints the sum as its last line and leaves it in build/counts/SUITE for .ci/run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
build=$1 suite=$2 labels=$3
mkdir -p build/counts
rm -f "build/counts/$suite"

ctest --test-dir "$build" --label-regex "$labels" --no-tests=error --output-on-failure -j "${JOBS:-2}" \
  --output-junit "junit-$suite.xml"
status=$?

# The log holds every output uncut, one section a test. A case that was skipped counts as failed: none may be.
counts=$(awk '
  function close_test() {
    if (name == "") return
    if (!counted) { ok = result == "Passed" ? 1 : 0; bad = 1 - ok }
    if (result != "Passed" && bad == 0) bad = 1
    if (ok + bad == 0) bad = 1
    passed += ok; failed += bad; name = ""
  }
  /^[0-9]+\/[0-9]+ Testing: / { close_test(); name = $3; counted = 0; ok = bad = 0; result = "lost" }
  /^\[doctest\] test cases: / {
    gsub(/[|:]/, " "); counted = 1
    for (i = 2; i <= NF; i++) {
      if ($i == "passed") ok += $(i - 1)
      if ($i == "failed" || $i == "skipped") bad += $(i - 1)
    }
  }
  /^[0-9]+ passed, [0-9]+ failed$/ { counted = 1; ok = $1; bad = $3 }
  /^Test (Passed|Failed)\.$/ || /^Test (Timeout|timed out)/ { result = $2; sub(/\..*/, "", result) }
  END { close_test(); print passed + 0, failed + 0 }
' "$build/Testing/Temporary/LastTest.log") || counts="0 1"
read -r passed failed <<<"$counts"
if [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
echo "$passed $failed" >"build/counts/$suite"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
