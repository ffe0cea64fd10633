# One command from a clone to a result: make design, make test, make check, make bench.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
ARGS ?=
COUNT ?= 20
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

# One thread in the numerical libraries: the order of their sums, and so the last bit of a result, depends on it.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: help venv design test differential fuzz check check-lint check-format check-types check-imports check-files bench docs kill memory supply lock wheel clean

help:
	@echo "make design [ARGS='seed=1 budget=small']   design a controller for the Van der Pol oscillator, with a report"
	@echo "make test   [ARGS='-m slow']               run the tests"
	@echo "make differential [COUNT=20]               random programs through every way they are printed and compiled"
	@echo "make fuzz   [ARGS='200000 1']              give mutated files to all readers: how many, seed"
	@echo "make kill   [COUNT=200]                    kill commands at random moments, go on, compare to the byte"
	@echo "make memory [COUNT=200]                    designs in one process, whose memory must stay flat from the twentieth on"
	@echo "make check                                 lint, format, types, import directions, configuration files"
	@echo "make docs                                  the documentation site in build/site/, to be opened from the file system"
	@echo "make bench                                 ratios against peers, in one run"
	@echo "make wheel                                 a wheel in dist/, with its bill of materials (CycloneDX)"
	@echo "make supply                                write NOTICE; make lock: requirements.lock, hashes of published wheels"
	@echo "make venv                                  install into $(VENV) only"
	@echo "make clean                                 remove $(VENV) and what tools leave behind (not runs/)"

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[torch,test,dev,docs,peers,assurance,exports,adapters,cluster,plot]"
	touch $(STAMP)

design: $(STAMP)
	$(BIN)/python -m experiments.design plant=van_der_pol $(ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest $(ARGS)

differential: $(STAMP)
	$(BIN)/python -m pytest tests/plants/core/printers/test_differential.py tests/sscq/loop/test_company.py \
		-q --count $(COUNT) -m ""

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz $(or $(ARGS),20000)

check: check-lint check-format check-types check-imports check-files

check-lint: $(STAMP)
	$(BIN)/ruff check .

check-format: $(STAMP)
	$(BIN)/ruff format --check .

check-types: $(STAMP)
	$(BIN)/mypy

check-imports: $(STAMP)
	$(BIN)/lint-imports --no-logo --no-cache

check-files: $(STAMP)
	$(BIN)/python -c "import glob, tomllib, yaml; tomllib.load(open('pyproject.toml', 'rb')); \
	[yaml.safe_load(open(name)) for name in (*glob.glob('configs/**/*.yaml', recursive=True), '.pre-commit-config.yaml')]"

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site/$(VERSION)
	$(BIN)/python docs/_extensions/versions.py build/site

kill: $(STAMP)
	$(BIN)/python -m tests.endurance.kills $(COUNT)

memory: $(STAMP)
	$(BIN)/python -m tests.endurance.memory $(COUNT)

supply: $(STAMP)
	$(BIN)/python -m benchmarks.supply notice

lock: $(STAMP)
	$(BIN)/python -m benchmarks.supply lock

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python -m benchmarks.supply sbom

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
