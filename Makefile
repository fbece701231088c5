# make demo   trains a small model on the built-in corpus
# make test   lint, types, tests
# make venv   only builds .venv; CUDA=1 adds TensorFlow's CUDA libraries

SHELL := /bin/sh
LOCK := $(if $(CUDA),requirements-cuda.lock,requirements.lock)

.PHONY: venv demo test lock clean

venv: .venv/ready

# The stamp is written last, so an install that was broken off is done again.
.venv/ready: $(LOCK) scripts/make_venv.sh
	@sh scripts/make_venv.sh $(LOCK)

demo: .venv/ready
	@.venv/bin/python train.py --flagfile=presets/demo.flags

test: .venv/ready
	@sh scripts/check.sh

lock:
	@sh scripts/lock.sh

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache
