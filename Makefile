# Every target sets up what it needs: on a fresh machine `make run` or `make test` is enough.
# The environment is always .venv, whatever else is activated.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Three at a time, on two cores as well: many tests wait for processes that they have started.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
# What commands need: eqbench, what tests need besides, solvers of others, and all of these.
BASE := $(VENV)/.base
CORE := $(VENV)/.core
SOLVERS := $(VENV)/.solvers
STAMP := $(BASE) $(CORE) $(SOLVERS)
# Machine code of kernels, so that no first run compiles.
WARM := $(VENV)/.warm
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Extras that depend on wheels for the platform at hand; each may be missing without harm.
EXTRAS := gambit gurobi scip peers ode exact prove

.DEFAULT_GOAL := help
.PHONY: help setup run test quick check docs docs-links reference schemas complete-sets stubs size playground way fuzz attack mutants goldens clean

help:  ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

setup: $(STAMP) $(WARM)  ## create .venv and install eqbench with every extra available here

run: $(WARM)  ## run every solver on three-player Kuhn poker
	$(BIN)/eqbench run --game kuhn3 --solver all

test: $(STAMP)  ## run the tests
	$(PYTEST)

quick: $(CORE)  ## run the tests that take a minute in all and need no extra
	$(PYTEST) --quick --durations 10

check: $(STAMP)  ## lint, format, types and tests: what CI runs
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy eqbench
	$(PYTEST)

reference: $(STAMP)  ## run the main job for results/reference and the documentation
	$(BIN)/python benchmarks/run.py reference

docs: $(STAMP)  ## build the documentation: docs/_build/html/index.html
	$(BIN)/python -m sphinx -W -n --keep-going -b html docs docs/_build/html

docs-links: $(STAMP)  ## ask every outside address in the documentation; needs the network
	$(BIN)/python -m sphinx -b linkcheck docs docs/_build/linkcheck

schemas: $(STAMP)  ## generate docs/reference/schemas from the declared types
	$(BIN)/python tools/schemas.py

complete-sets: $(STAMP)  ## compute the complete sets of equilibria that are shipped
	$(BIN)/python tools/complete_sets.py

stubs: $(STAMP)  ## generate the stubs that type checkers read from requests and the registry
	$(BIN)/python tools/stubs.py

size: $(STAMP)  ## count modules, lines, circles and options
	$(BIN)/python tools/house.py

playground: $(BASE)  ## build the page that runs eqbench in a browser; ARGS=--help shows options
	$(BIN)/python tools/playground/build.py build/playground $(ARGS)

way: $(STAMP)  ## count what one run enters in its own process; ARGS=--list names it
	$(BIN)/python tools/way.py $(ARGS)

goldens: $(STAMP)  ## write the reports that tests compare with; review the diff
	EQBENCH_GOLDENS=write $(BIN)/python -m pytest -q tests/golden

fuzz: $(STAMP)  ## damage game files for ten minutes and see whether a reader fails
	$(BIN)/python tools/fuzz_game_files.py --minutes 10

attack: $(STAMP)  ## try hostile files, names and commands; ARGS=--kill kills runs instead
	PYTHONPATH=tests:tools $(BIN)/python -m attack.run --jobs 3 $(ARGS)

mutants: $(STAMP)  ## break the guarded code in 200 ways and see whether its tests notice
	$(BIN)/python tools/mutants.py $(ARGS)

clean:  ## remove builds, caches and .venv; results stay
	rm -rf $(VENV) build dist docs/_build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find eqbench games solvers tests tools -name __pycache__ -prune -exec rm -rf {} +

# The extras are installed one by one and as wheels only: a compiler run of minutes, or a platform
# without a wheel, must not stand between a newcomer and the first result.
$(BASE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "eqbench needs Python 3.11 or newer, but \`$(PYTHON)\` is" \
	    "$$($(PYTHON) --version 2>&1); try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable '.[fast,frames,plots]'
	@touch $@

$(CORE): $(BASE)
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(SOLVERS): $(BASE)
	@for extra in $(EXTRAS); do \
	  echo "installing optional extra $$extra"; \
	  $(INSTALL) --only-binary :all: --editable ".[$$extra]" >$(VENV)/extra-$$extra.log 2>&1 \
	  || echo "optional extra $$extra is not available here (see $(VENV)/extra-$$extra.log)"; \
	done
	@touch $@

$(WARM): $(SOLVERS)
	$(BIN)/eqbench warm-up
	@touch $@
