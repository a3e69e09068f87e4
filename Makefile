# Two commands are enough: `make run` and `make test`. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# libs before services; market first, because bronze compiles against its declarations
PACKAGES := libs/market libs/telemetry libs/settings libs/jetstream libs/bronze libs/feeds libs/handoff libs/eventbus libs/testing \
	services/simulator services/gateway services/publisher services/machine services/cli
SOURCES := $(PACKAGES:%=%/src)
TESTS := tests $(wildcard libs/*/tests services/*/tests)
BUILD_INPUTS := requirements.lock $(PACKAGES:%=%/pyproject.toml) $(wildcard libs/*/setup.py libs/*/src/*/_c/*.pyx libs/*/src/*/_c/*.pxd libs/*/src/*/_c/*.h)
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

.PHONY: install
install: $(STAMP) ## the environment in .venv, with everything compiled that can be

$(STAMP): $(BUILD_INPUTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(sed -n 's/^\(uv==[^ ]*\).*/\1/p' requirements.lock)"
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	$(UV) --editable libs/market
	$(UV) $(patsubst %,--editable %,$(filter-out libs/market,$(PACKAGES)))
	@$(BIN)/python -c 'import tardis_market.engine as m, tardis_bronze as b; print("engine:", "compiled" if m.COMPILED and b.COMPILED else "pure Python (slower; with a C compiler, run make clean install)")'
	@touch $(STAMP)

.PHONY: run
run: install ## everything on this machine: gateway, simulator, queue, publisher
	@exec $(BIN)/tardis-machine --config deploy/local.yaml

.PHONY: test
test: install ## all tests, with the coverage of libs/
	$(BIN)/python -m pytest -q --cov=libs --cov-report=term:skip-covered --cov-fail-under=90

.PHONY: faults
faults: install ## kill -9 of every station in the middle of a large replay; prints what it saw
	TARDIS_FAULTS_RATE=60000 $(BIN)/python -m pytest -v tests/road/test_road.py -k kill

.PHONY: lint
lint: install ## ruff, mypy --strict, buf, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(SOURCES) $(TESTS)
	schemas/proto.sh check

.PHONY: format
format: install ## formats code and schemas
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/buf format --write schemas

.PHONY: proto
proto: install ## formats the schemas and writes the generated code
	schemas/proto.sh generate

.PHONY: docs
docs: install ## the generated pages of docs/
	$(BIN)/python -m tardis_settings.reference > docs/settings.md
	$(BIN)/python -m tardis_telemetry.reference > docs/metrics.md

.PHONY: bench
bench: install ## benchmarks; each prints ratios beside a reference of the same run
	@for bench in tests/perf/bench_*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

.PHONY: lock
lock: install ## requirements.lock from requirements.in
	$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --universal --python-version 3.11 \
		--custom-compile-command 'make lock' requirements.in -o requirements.lock

.PHONY: clean
clean: ## removes what the other targets made
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .coverage
	find libs services -name '*.so' -o -name '*.egg-info' -prune -o -path '*/_c/*.c' | xargs rm -rf
