#!/usr/bin/env bash
# Every check that needs no run of the programs; all are made even when one fails, and each says pass or FAIL.
# lint.sh [CHECK...]: only those named (layers whitespace shell format warnings tidy).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-2}
mkdir -p build/counts
rm -f build/counts/lint

sources() { git ls-files -co --exclude-standard -- "$@" | while read -r file; do [ -f "$file" ] && echo "$file"; done; }

layers() { scripts/check_layers.sh; }

# Text ends with one newline and no line ends with a blank. Data that tests compare byte by byte is left alone.
whitespace() {
  local file bad=0
  while read -r file; do
    grep -qI . "$file" || continue  # empty or not text
    if grep -nE '[[:blank:]]+$' "$file" | sed "s|^|$file:|" | grep .; then bad=1; fi
    if [ -n "$(tail -c 1 "$file")" ]; then echo "$file: no newline at the end"; bad=1; fi
  done < <(sources | grep -v '^tests/data/')
  return $bad
}

shell() {
  local files
  files=$(sources | while read -r file; do
    case $file in tests/data/*) ;; *) head -c 30 "$file" | head -n 1 | grep -aqE '^#!.*\b(ba|da)?sh\b' && echo "$file" ;; esac
  done)
  # shellcheck disable=SC2086  # a list of names without blanks
  shellcheck $files
}

format() {
  local found
  found=$(sources '*.cc' '*.h' | xargs clang-format-14 --dry-run 2>&1 | grep 'should be clang-formatted')
  [ -z "$found" ] && return
  cut -d: -f1 <<<"$found" | uniq -c | awk '{print $2 ": " $1 " places differ from clang-format-14 (make format mends them)"}'
  return 1
}

warnings() { cmake --preset dev >/dev/null && cmake --build build -j "$jobs"; }

# Over the programs and their libraries; tests have the compiler's warnings as errors.
tidy() {
  cmake -S . -B build/tidy -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DARENA_TESTS=OFF \
    -DCMAKE_BUILD_TYPE=Debug >/dev/null || return
  # The same finding in a header is shown once.
  sed -n 's/^  "file": "\(.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json | sort -u |
    xargs -P "$jobs" -n 1 scripts/tidy_one.sh build/tidy |
    awk '/: (error|warning): / { shown = !seen[$0]++ } shown'
  return "${PIPESTATUS[2]}"
}

checks=("$@")
if [ ${#checks[@]} -eq 0 ]; then checks=(layers whitespace shell format warnings tidy); fi
passed=0 failed=0
for check in "${checks[@]}"; do
  start=$SECONDS
  if "$check"; then verdict=pass passed=$((passed + 1)); else verdict=FAIL failed=$((failed + 1)); fi
  echo "lint $check: $verdict ($((SECONDS - start)) s)"
done
echo "$passed $failed" >build/counts/lint
[ $failed -eq 0 ]
