#!/bin/sh
# Lint, format, types, tests: what `make test` and CI run. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin
"$bin/ruff" check .
"$bin/ruff" format --check .
"$bin/mypy"
"$bin/python" -m pytest -n auto --dist worksteal "$@"
