#!/usr/bin/env bash
# clang-tidy over one file, its output in one piece so that parallel runs do not mix: tidy_one.sh BUILD_DIR FILE
found=$(clang-tidy-14 -p "$1" --quiet "$2" 2>/dev/null)
status=$?
[ -z "$found" ] || printf '%s\n' "$found"
if [ $status -ne 0 ] && [ -z "$found" ]; then clang-tidy-14 -p "$1" "$2"; fi
exit $status
