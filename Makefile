# make demo   trains a small model on the built-in corpus
# make test   lint, types, tests
# make bench  measures against other programs; FLAGS="..." are train.py's, or --rounds=N
# make venv   only builds .venv; CUDA=1 adds TensorFlow's CUDA libraries

SHELL := /bin/sh
# Once built with CUDA, it stays with CUDA until `make clean`.
CUDA_BUILT := $(wildcard .venv/from-requirements-cuda.lock)
LOCK := $(if $(CUDA)$(CUDA_BUILT),requirements-cuda.lock,requirements.lock)
READY := .venv/from-$(LOCK)

.PHONY: venv demo test bench lock clean

venv: $(READY)

# The stamp is written last, so an install that was broken off is done again.
.venv/from-%: % scripts/make_venv.sh
	@PYTHON="$(PYTHON)" sh scripts/make_venv.sh $<

demo: $(READY)
	@.venv/bin/python train.py --flagfile=presets/demo.flags

test: $(READY)
	@sh scripts/check.sh

bench: $(READY)
	@.venv/bin/python -m benchmarks $(FLAGS)

lock:
	@sh scripts/lock.sh

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache
