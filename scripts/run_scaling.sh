#!/bin/sh
# Measures words/s over numbers of replicas and writes tables, CSV, JSON and report.html; see --help.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
if ! [ -x "$root/.venv/bin/python" ]; then
    echo "run_scaling.sh: there is no .venv in $root; make it with: make venv" >&2
    exit 2
fi
PYTHONPATH="$root/scripts:$root" exec "$root/.venv/bin/python" -m scaling "$@"
