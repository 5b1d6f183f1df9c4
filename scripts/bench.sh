#!/usr/bin/env bash
# Runs every benchmark that was built, one after the other, each in an empty directory of its own: bench.sh [NAME...]
set -euo pipefail
cd "$(dirname "$0")/.."
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in tests/bench/*.cc; do
    [ -f "$source" ] || { echo "tests/bench holds no benchmark" >&2; exit 1; }
    names+=("$(basename "$source" .cc)")
  done
fi
programs=$PWD/build-bench/bin
for name in "${names[@]}"; do
  directory=build-bench/run/$name
  rm -rf "$directory"
  mkdir -p "$directory"
  echo "== $name"
  (cd "$directory" && "$programs/$name")
done
