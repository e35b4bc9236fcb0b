PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The stamp is older than pyproject.toml exactly when the installation is out of date.
STAMP := $(VENV)/.installed
# The same with the lowest versions that pyproject.toml states.
LOWEST := .venv-lowest
LOWEST_STAMP := $(LOWEST)/.installed
SOURCES := src tests benchmarks experiments docs .ci

.DEFAULT_GOAL := help
.PHONY: help install peers demo docs test test-lowest test-slow bench experiments experiments-smoke results clean

help:
	@echo "make install      create $(VENV) and install the package with its test tools"
	@echo "make demo         fit a small bundled table; write its model and report here"
	@echo "make docs         build the documentation site in site/ and check its links"
	@echo "make test         ruff, mypy and the quick tests (those of rivals: make peers, then pytest -m peers)"
	@echo "make test-lowest  the quick tests with the lowest versions of all libraries, in $(LOWEST)"
	@echo "make test-slow    the tests marked slow"
	@echo "make bench        list the benchmarks"
	@echo "make bench-NAME   run benchmarks/NAME.py; options in ARGS, for example ARGS='--smoke --jobs 2'"
	@echo "make peers        install the libraries of the rivals as well"
	@echo "make experiments  list the experiments"
	@echo "make experiments-NAME   run experiments/NAME.py; options in ARGS, for example ARGS='--methods ssvgp --jobs 2'"
	@echo "make experiments-smoke  all experiments and methods, tiny, into a folder that is thrown away"
	@echo "make results      write docs/results.md and its figures from the stored results"
	@echo "make clean        remove $(VENV), $(LOWEST) and all caches"

install: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $(STAMP)

demo: install
	$(BIN)/ssvgp demo

# Links to other sites are listed, not followed: the answer is the same without a network.
docs: install
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/python -m sphinx -q -W --keep-going -E -d build/doctrees -b html docs site
	$(BIN)/python docs/check_site.py site

test: install
	$(BIN)/python -m ruff check $(SOURCES)
	$(BIN)/python -m ruff format --check $(SOURCES)
	$(BIN)/python -m mypy --strict
	$(BIN)/python -m pytest -n 2 -m "not slow and not peers"

$(LOWEST_STAMP): pyproject.toml .ci/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python .ci/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/lowest.txt --editable '.[test]'
	touch $(LOWEST_STAMP)

# Bits may differ by chance there, and what failed runs once more: where two threads multiply at a time, the OpenBLAS of
# NumPy 1.26 (0.3.23) now and then gives other last bits, and some tests compare them.
LOWEST_TESTS := $(LOWEST)/bin/python -m pytest -o cache_dir=$(LOWEST)/cache -m "not slow and not peers and not browser"

test-lowest: $(LOWEST_STAMP)
	$(LOWEST_TESTS) -n 2 || $(LOWEST_TESTS) --last-failed --last-failed-no-failures none

# Exit code 5 means that no test carries the marker, which is no failure.
test-slow: install
	$(BIN)/python -m pytest -m slow || test $$? -eq 5

bench:
	@ls benchmarks/*.py | sed -e 's,^benchmarks/,make bench-,' -e 's,\.py$$,,' \
	    | grep -v -e __init__ -e bench-selection -e bench-growth_plot

bench-%: install
	$(BIN)/python -m benchmarks.$* $(ARGS)

# The exact version lets a CPU build (2.13.0+cpu) satisfy the request where one is on offer.
peers: install
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[test,peers]'

EXPERIMENTS := toy experiment1 experiment2 real league

experiments:
	@for name in $(EXPERIMENTS); do echo "make experiments-$$name"; done

# One folder for results, tables, figures and page, which must all come out; KEEP=DIR keeps it.
experiments-smoke: install
	@folder=$(KEEP); test -n "$$folder" || { folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT; }; set -e; \
	for name in $(EXPERIMENTS); do \
	    $(BIN)/python -m experiments.$$name --smoke --jobs 2 --results "$$folder"; \
	done; \
	$(BIN)/python -m experiments.results --smoke --results "$$folder" --docs "$$folder/docs"

experiments-%: install
	$(BIN)/python -m experiments.$* $(ARGS)

results: install
	$(BIN)/python -m experiments.results

clean:
	rm -rf $(VENV) $(LOWEST) build dist site .pytest_cache .mypy_cache .ruff_cache
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +
