#!/bin/sh
# Measures sgd, adam and adamw at 1, 2 and 4 replicas and shows which phase of a step grew; see --help.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
if ! [ -x "$root/.venv/bin/python" ]; then
    echo "compare_optimizers.sh: there is no .venv in $root; make it with: make venv" >&2
    exit 2
fi
PYTHONPATH="$root" exec "$root/.venv/bin/python" -m benchmarks.optimizers "$@"
