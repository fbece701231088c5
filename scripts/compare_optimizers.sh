#!/bin/sh
# Measures sgd, adam and adamw at 1, 2 and 4 replicas and shows which phase of a step grew; see --help.
cd "$(dirname "$0")/.." || exit 1
if ! [ -x .venv/bin/python ]; then
    echo "compare_optimizers.sh: there is no .venv here; make it with: make venv" >&2
    exit 2
fi
exec .venv/bin/python -m benchmarks.optimizers "$@"
