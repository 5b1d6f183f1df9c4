#!/usr/bin/env bash
# gpu_runs_test.sh BIN_DIR SOURCE_DIR: whole runs on machines that do not exist, see machine/runs.py.
# packages: python3 util-linux librocm-smi64-1 librocm-smi-dev libamdhip64-5 libhsa-runtime64-1 libhsakmt-dev
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -B "$2/tests/lab/machine/runs.py" "$1" "$work"
