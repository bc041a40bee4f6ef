PYTHON ?= python3
VENV   ?= .venv
RUN    := $(VENV)/bin/

.PHONY: demo test nightly golden lint types notebooks docs bench bench-gpu size constraints clean

# One stamp for each set of extras; each makes the virtual environment if there is none. Where a set lies in another, the
# stamp of that one is enough: demo asks no index after test.
WITHIN-test    := all docs
WITHIN-dev     := all docs test
WITHIN-nightly := all docs test
$(VENV)/.stamp-%: pyproject.toml constraints.txt
	@test -x $(RUN)python || $(PYTHON) -m venv $(VENV)
	$(RUN)python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$*]"
	@touch $@ $(WITHIN-$*:%=$(VENV)/.stamp-%)

demo: $(VENV)/.stamp-all
	$(RUN)boundlab demo

# What Python compiles is kept, whatever the environment says: compiling takes each worker ten seconds.
test: $(VENV)/.stamp-test
	PYTHONDONTWRITEBYTECODE= $(RUN)python -m pytest -n 2 -q --dist worksteal

# Everything that test runs with twenty times the examples or more, and what is marked nightly: full sweeps, long fuzzing. Then
# 300 errors are planted one by one, of which the suite must notice 95 %, and no benchmark may be slower than recorded.
nightly: $(VENV)/.stamp-nightly
	BOUNDLAB_EXAMPLES=500 $(RUN)python -m pytest -n 2 -q -m "nightly or not nightly"
	$(RUN)python -m benchmarks.golden check
	$(RUN)python -m benchmarks.mutation
	$(RUN)python -m benchmarks.speed cpu --guard $(lastword $(sort $(wildcard benchmarks/results/cpu-*.json)))

# All recorded answers, asked again: what differs is told, and fails. make test asks a tenth of them.
golden: $(VENV)/.stamp-test
	$(RUN)python -m benchmarks.golden check

lint: $(VENV)/.stamp-dev types
	$(RUN)ruff check .
	$(RUN)ruff format --check .

# mypy follows folders, not setuptools' package-dir: show it the installed layout through links.
types: $(VENV)/.stamp-dev
	@rm -rf build/types && mkdir -p build/types/boundlab
	@ln -s $(CURDIR)/boundlab/* $(CURDIR)/problems $(CURDIR)/proofs build/types/boundlab/
	cd build/types && $(abspath $(VENV))/bin/mypy --config-file $(CURDIR)/pyproject.toml -p boundlab

# Runs each text in notebooks/ and stores its pair with what it printed and drew.
notebooks: $(VENV)/.stamp-test
	$(RUN)python -m benchmarks.store_notebooks

# The site: pages where they lie in the repository, and a reference that is written from the code. A warning is an error.
SITE := build/site
docs: $(VENV)/.stamp-docs
	$(RUN)python website/assemble.py $(SITE)/source
	$(RUN)python -m sphinx -q -W --keep-going -c website -d $(SITE)/doctrees $(SITE)/source $(SITE)/html
	@echo "$(SITE)/html/index.html"

bench: $(VENV)/.stamp-all
	$(RUN)python -m benchmarks.speed cpu

# All that a machine with a GPU is asked, in one call and without a network: a Python with torch (and Triton) runs it, and
# boundlab alone is installed, into a folder. DEVICE=cpu SMALL=--small rehearses it without a GPU.
DEVICE ?= cuda
SMALL  ?=
GPU    := build/gpu
# Wherever it lies: two of the commands run in another folder.
WHICH   = $(abspath $(shell command -v $(PYTHON)))
bench-gpu:
	@rm -rf $(GPU)
	$(WHICH) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --target $(GPU) .
	cd $(GPU) && BOUNDLAB_DEVICE=$(DEVICE) $(WHICH) -m pytest -q -p no:cacheprovider $(CURDIR)/tests/execute/test_device.py
	cd $(GPU) && PYTHONPATH=$(CURDIR) $(WHICH) -m benchmarks.speed gpu --device $(DEVICE) $(SMALL) --out $(CURDIR)/benchmarks/results
	@if [ -n "$$OUT" ]; then cp benchmarks/results/gpu-* "$$OUT"; fi

# What has changed since the table of CONTRIBUTING.md, room by room.
size: $(VENV)/.stamp-test
	$(RUN)python -m benchmarks.size

# What a release hands out beside the wheel: the pins of constraints.txt with the hashes of all files that the index has of them.
# Without torch: its builds differ from machine to machine, and come from other indexes.
constraints: $(VENV)/.stamp-release
	@mkdir -p build dist
	$(RUN)pip-compile --quiet --generate-hashes --strip-extras --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  --unsafe-package boundlab --constraint constraints.txt $(HASHED:%=--extra %) --output-file build/hashed.txt pyproject.toml
	grep -v '^#' build/hashed.txt > dist/constraints-hashed.txt
HASHED := all fast notebook testing dask parquet

clean:
	rm -rf $(VENV) build dist *.egg-info demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
