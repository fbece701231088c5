#!/bin/sh
# Measures words/s over numbers of replicas and writes tables, CSV, JSON and report.html; see --help.
cd "$(dirname "$0")/.." || exit 1
if ! [ -x .venv/bin/python ]; then
    echo "run_scaling.sh: there is no .venv here; make it with: make venv" >&2
    exit 2
fi
PYTHONPATH=scripts exec .venv/bin/python -m scaling "$@"
