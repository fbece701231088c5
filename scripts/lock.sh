#!/bin/sh
# Writes the lock files anew from pyproject.toml's ranges; needs uv (pip install uv).
set -eu
for extra in dev cuda; do
    name=$([ "$extra" = cuda ] && echo requirements-cuda.lock || echo requirements.lock)
    uv pip compile pyproject.toml --extra dev --extra "$extra" --universal --python-version 3.10 \
        --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet --upgrade -o "$name"
done
