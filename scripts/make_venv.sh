#!/bin/sh
# Builds .venv from a lock file: scripts/make_venv.sh requirements.lock
set -eu
lock=$1

usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' \
        >/dev/null 2>&1
}

for candidate in ${PYTHON:-python3.12 python3.11 python3.10 python3 python}; do
    if usable "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "${python:-}" ]; then
    echo "make venv: ${PYTHON:-no python on the path} is not Python 3.10, 3.11 or 3.12 with venv;" \
        "install one (on Debian also python3-venv) and name it: make venv PYTHON=python3.12" >&2
    exit 2
fi

echo "building .venv with $("$python" --version) from $lock (once, a few minutes)"
rm -rf .venv
"$python" -m venv .venv
# The lock is complete: letting pip resolve again only gives an older one the chance to go wrong.
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r "$lock"
.venv/bin/python -m pip --disable-pip-version-check check >/dev/null
touch ".venv/from-$lock"
