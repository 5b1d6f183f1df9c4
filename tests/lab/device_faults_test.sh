#!/usr/bin/env bash
# device_faults_test.sh BIN_DIR SOURCE_DIR: machines on which something is wrong, see machine/faults.py.
# packages: python3 util-linux librocm-smi64-1 librocm-smi-dev libamdhip64-5 libhsa-runtime64-1 libhsakmt-dev
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -B "$2/tests/lab/machine/faults.py" "$1" "$work"
