# One word per job. Every target makes .venv first where it is missing or older than its pins.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
LAB    ?= .
PORT   ?=
RUNS   ?=
OUT    ?=
BENCHMARK ?=
JOBS   ?= 2

RUN     = $(BIN)/benchpipe
port    = $(if $(PORT),--port $(PORT))
one     = $(if $(BENCHMARK),--benchmark $(BENCHMARK))
pytest  = $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help install demo runs runs-watch check strict guard build public serve edit dev publish-runs publish \
        export-run-media compress-run-media upload-run-media prices test test-long bench lint clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

install: $(STAMP)  ## create .venv with everything
demo: $(STAMP)  ## a lab of genuine jobs in .demo/, collected, built and served
	$(RUN) demo $(port)
runs: $(STAMP)  ## collect from every host once (RUNS="--benchmark ID" passes options)
	$(RUN) --lab $(LAB) runs $(RUNS)
runs-watch: $(STAMP)  ## collect every 3 minutes, writing only what changed
	$(RUN) --lab $(LAB) runs --watch 180 $(RUNS)
check: $(STAMP)  ## every registry rule, guard, contributions, site build and link check
	$(RUN) --lab $(LAB) check
strict: $(STAMP)  ## check, with warnings fatal
	$(RUN) --lab $(LAB) check --strict
guard: $(STAMP)  ## what git must not hold
	$(RUN) --lab $(LAB) guard
build: $(STAMP)  ## the site as plain files, from this machine's data
	$(RUN) --lab $(LAB) site build $(if $(OUT),--out $(OUT))
public: $(STAMP)  ## the public site, from the committed snapshot only
	$(RUN) --lab $(LAB) site build --public $(if $(OUT),--out $(OUT))
serve: $(STAMP)  ## the site on 127.0.0.1, rebuilt when data changes
	$(RUN) --lab $(LAB) serve $(port)
edit: $(STAMP)  ## serve, and curate from the page
	$(RUN) --lab $(LAB) edit $(port)
dev: $(STAMP)  ## the Dagster UI on this lab (LAB=.demo for the demo)
	$(RUN) --lab $(LAB) dev $(port)
publish-runs: $(STAMP)  ## write the redacted, scanned snapshot (BENCHMARK=ID for one)
	$(RUN) --lab $(LAB) publish $(one)
publish: $(STAMP)  ## the one-shot flow with its gates
	$(RUN) --lab $(LAB) release
export-run-media compress-run-media upload-run-media: $(STAMP)  ## run media to the Hub dataset (BENCHMARK=ID)
	$(RUN) --lab $(LAB) media $(@:%-run-media=%) $(one) $(if $(OUT),--out $(OUT))
prices: $(STAMP)  ## our price list beside a price library
	$(RUN) --lab $(LAB) prices check
test: $(STAMP)  ## every test
	$(pytest) -n $(JOBS) -m "not long"
test-long: $(STAMP)  ## full counts of random trials
	$(pytest) -n $(JOBS)
bench: $(STAMP)  ## speed, as ratios against a named alternative in the same run
	$(BIN)/python -m benchpipe_tests.bench
lint: $(STAMP)  ## style, types, layers
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports --no-cache
clean:  ## remove what can be made again (not data/runs)
	rm -rf site public .demo .cache $(VENV)
