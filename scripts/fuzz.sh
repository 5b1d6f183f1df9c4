#!/usr/bin/env bash
# Runs every fuzz target that was built for the given number of seconds, and stops at the first crash: fuzz.sh SECONDS
# The seeds in tests/data/fuzz/NAME are copied first: what the fuzzer finds stays in build-fuzz/corpus/NAME.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shopt -s nullglob
targets=(tests/fuzz/*_fuzz.cc)
if [ ${#targets[@]} -eq 0 ]; then echo "tests/fuzz holds no target" >&2; exit 1; fi
for source in "${targets[@]}"; do
  name=$(basename "$source" _fuzz.cc)
  corpus=build-fuzz/corpus/$name crashes=build-fuzz/crashes
  mkdir -p "$corpus" "$crashes"
  cp -n tests/data/fuzz/"$name"/* "$corpus"/
  echo "== $name: $seconds s from $(find "$corpus" -type f | wc -l) inputs"
  if ! "build-fuzz/bin/${name}_fuzz" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -max_len=65536 \
      -verbosity=0 -print_final_stats=1 -artifact_prefix="$crashes/$name-" "$corpus"; then
    echo "fuzz.sh: $name crashed; the input is in $crashes/; mend it, then keep it: cp $crashes/$name-* tests/data/fuzz/$name/" >&2
    exit 1
  fi
done
echo "no crash in ${#targets[@]} targets, $seconds s each"
