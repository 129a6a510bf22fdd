# `make demo` and `make test` do everything on a fresh machine; the first run builds llama.cpp, which takes minutes.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
N ?= 100000
SECONDS := 3600
EVALUATORS := arithmetic strings dates checksums
HOST := registry regex lark gbnf structural schema receipt receipt-csv module abi stream sse completion server

.PHONY: help setup demo test test-vllm long lint format guests verify-guests conformance differential fuzz fuzz-short benchmarks clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

setup: ## create .venv and install everything (done by the other targets)
	@command -v $(PYTHON) >/dev/null || { echo "evalspan needs Python 3.11 or newer and found no $(PYTHON)." \
	  "Install it (Debian: apt-get install python3 python3-venv) or name one: make PYTHON=/path/to/python3 demo"; exit 1; }
	@$(PYTHON) scripts/setup.py

demo: setup ## a real model counts the items in a box, first alone, then with an exact span
	@$(BIN)/evalspan demo $(ARGS)

test: setup ## the tests
	@$(BIN)/python -m pytest -m "not long" $(ARGS)

test-vllm: ## the tests of vLLM, in an environment of their own (.venv-vllm, 3.5 GB)
	@$(PYTHON) scripts/setup_vllm.py
	@.venv-vllm/bin/python -m pytest tests/vllm -m "" $(ARGS)

long: setup ## the long tests: real model, many samples
	@$(BIN)/python -m pytest -m long $(ARGS)

lint: setup ## ruff, mypy and pyright
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy policies/evalspan evaluators_wasm/evalspan orchestrator/evalspan backends/evalspan conformance/evalspan
	@$(BIN)/pyright

format: setup ## let ruff write the layout
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

guests: setup ## rebuild the WebAssembly modules and record their digests
	@$(BIN)/python scripts/guests.py build

verify-guests: setup ## rebuild the modules and compare them with the committed ones
	@$(BIN)/python scripts/guests.py verify || [ $$? -eq 3 ] # 3: another compiler, and the vectors pass

conformance: setup ## every requirement on the scripted backend, and mutants of the code; both are in `make test` too
	@$(BIN)/evalspan conformance run --backend scripted $(ARGS)
	@$(BIN)/evalspan conformance mutants

differential: setup ## random inputs on the modules and on the references; N=1000000 for a long run
	@$(BIN)/evalspan conformance differential --n $(N) $(ARGS)

fuzz: setup ## look for faults in every evaluator and in the host, SECONDS=3600 in all; what is found stays in .fuzz
	@status=0; for name in $(EVALUATORS); do $(BIN)/evalspan fuzz $$name --corpus .fuzz/$$name \
	  --seconds $$(($(SECONDS) * 3 / 4 / $(words $(EVALUATORS)))) $(ARGS) || status=1; done; \
	for name in $(HOST); do $(BIN)/evalspan fuzz host:$$name --corpus .fuzz/host-$$name \
	  --seconds $$(($(SECONDS) / 4 / $(words $(HOST)))) $(ARGS) || status=1; done; exit $$status

fuzz-short: setup ## the same for 20 seconds each, with other inputs every day
	@status=0; for name in $(EVALUATORS) $(HOST:%=host:%); do \
	  $(BIN)/evalspan fuzz $$name --seconds 20 --timeout 3 --seed $$(date +%Y%m%d) $(ARGS) || status=1; done; exit $$status

benchmarks: setup ## how long the command line takes to start; `evalspan bench` has the rest
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean: ## remove the environment and what tools left behind
	rm -rf .venv .venv-vllm .pytest_cache .mypy_cache .ruff_cache .hypothesis .fuzz evaluators_wasm/guest/target
