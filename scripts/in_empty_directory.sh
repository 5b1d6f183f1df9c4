#!/usr/bin/env bash
# in_empty_directory.sh DIRECTORY COMMAND...: runs the command in DIRECTORY, emptied first. It is kept when the command fails.
set -euo pipefail
directory=$1
shift
chmod -R u+rwX "$directory" 2>/dev/null || true
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"
"$@" </dev/null
cd /
rm -rf "$directory"
