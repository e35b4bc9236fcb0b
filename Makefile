PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The stamp is older than pyproject.toml exactly when the installation is out of date.
STAMP := $(VENV)/.installed
SOURCES := src tests benchmarks experiments docs

.DEFAULT_GOAL := help
.PHONY: help install demo docs test test-slow bench clean

help:
	@echo "make install      create $(VENV) and install the package with its test tools"
	@echo "make demo         fit a small bundled table; write its model and report here"
	@echo "make docs         build the documentation site in site/ and check its links"
	@echo "make test         ruff, mypy and the quick tests"
	@echo "make test-slow    the tests marked slow"
	@echo "make bench        list the benchmarks"
	@echo "make bench-NAME   run benchmarks/NAME.py; options in ARGS, for example ARGS='--smoke --jobs 2'"
	@echo "make clean        remove $(VENV) and all caches"

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
	$(BIN)/python -m mypy
	$(BIN)/python -m pytest -n 2

# Exit code 5 means that no test carries the marker, which is no failure.
test-slow: install
	$(BIN)/python -m pytest -m slow || test $$? -eq 5

bench:
	@ls benchmarks/*.py | sed -e 's,^benchmarks/,make bench-,' -e 's,\.py$$,,' \
	    | grep -v -e __init__ -e bench-runner -e bench-scores -e bench-growth_plot

bench-%: install
	$(BIN)/python -m benchmarks.$* $(ARGS)

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +
