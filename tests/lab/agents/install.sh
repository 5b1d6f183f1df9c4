#!/usr/bin/env bash
# install.sh DIR: the pinned agent programs (versions.txt) and a Node to run them, into DIR; nothing else of the machine is
# touched. Ends at once when they are there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$1
mkdir -p "$target"
if cmp -s "$here/versions.txt" "$target/installed.txt" && "$target/node_modules/.bin/claude" --version >/dev/null; then exit 0; fi
mapfile -t packages < <(grep -v '^#' "$here/versions.txt")
# Node's own packages bring npm along, the distribution's do not.
command -v npm >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends npm >&2
npm install --prefix "$target" --no-audit --no-fund --loglevel=error "${packages[@]}"
cp "$here/versions.txt" "$target/installed.txt"
