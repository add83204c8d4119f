# make demo   sets up and runs the photograph example
# make quick  lint, types and the tests listed in tests/quick.txt: two minutes
# make test   sets up and passes the tests
# make check  what CI runs: tests, lint, types
# make deep   the large random campaigns
# make bench  the benchmark suite, quick form

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# Files with slow tests come first (tests/conftest.py), not those with many tests.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

# Hundreds of tests start processes: without its bytecode each would compile the package again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo quick test lint types check deep bench clean

demo: $(STAMP)
	$(BIN)/python examples/photo.py

quick: lint types
	$(PYTEST) @tests/quick.txt

test: $(STAMP)
	$(PYTEST)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

check: test lint types

deep: $(STAMP)
	$(BIN)/python -m pytest -q -m deep

bench: $(STAMP)
	$(BIN)/python -m benchmarks --quick

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test,demo,dev,mlir]"
	touch $(STAMP)

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis out
