#!/bin/sh
# Measures words/s over numbers of replicas and writes tables, CSV, JSON and report.html:
#     sh scripts/run_scaling.sh [--replicas=1..8] [--variable_update=all] [--encoder_type=all] \
#         [--rounds=3] [--out=runs/scaling] [more train.py flags]
# Called again with the same flags it goes on where it was broken off.
cd "$(dirname "$0")/.." || exit 1
if ! [ -x .venv/bin/python ]; then
    echo "run_scaling.sh: there is no .venv here; make it with: make venv" >&2
    exit 2
fi
PYTHONPATH=scripts exec .venv/bin/python -m scaling "$@"
