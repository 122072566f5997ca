# Needs make and Python 3.11 or newer; everything else is installed into $(VENV).
#   make test PYTHON=python3.13 VENV=/some/folder      another interpreter, another environment
#   make test TORCH=                                   without PyTorch (its tests are skipped)
#   make test PYTEST_ARGS="-k roc"                     part of the tests

PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
WORKERS ?= auto
PYTEST_ARGS ?=
# The fraction of the Monte Carlo draws that the slow tests make.
HALFTRUTH_DRAWS ?= 1

PY := $(VENV)/bin/python
# What is never imported need not be compiled, and that is most of it.
INSTALL := $(PY) -m pip --disable-pip-version-check install --quiet --no-compile
# Many tests start a process: what the first of them imports is compiled for all, whatever the user has set.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(PY) -m pytest
RUNTIME := $(VENV)/.halftruth-runtime
DEV := $(VENV)/.halftruth-dev
BROWSER := $(VENV)/.halftruth-browser
DOCS := $(VENV)/.halftruth-docs

export HALFTRUTH_DRAWS

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-browser check format dist docs examples bench prior-study propensity-study interval-study review-study clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

$(RUNTIME): pyproject.toml src/halftruth/_version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "halftruth needs Python 3.11 or newer, $(PYTHON) is %d.%d: pass PYTHON=..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $@

# Dependency groups need pip 25.1. PyTorch is optional: where this version cannot be had, the tests
# that need it are skipped, and fail if HALFTRUTH_REQUIRE_EXTRAS=1.
$(DEV): $(RUNTIME) papers/pyproject.toml
	$(INSTALL) --upgrade "pip>=25.1"
	$(INSTALL) --group dev
	$(INSTALL) --no-deps --no-build-isolation --editable ./papers
ifneq ($(strip $(TORCH)),)
	$(INSTALL) "$(TORCH)" --group training || echo "$(TORCH) cannot be installed here: its tests will be skipped" >&2
endif
	@touch $@

# The browser itself is the machine's own: $CHROMIUM, or chromium on the PATH.
$(BROWSER): $(DEV)
	$(INSTALL) --group browser
	@touch $@

$(DOCS): $(DEV)
	$(INSTALL) --group docs
	@touch $@

demo: $(RUNTIME)  ## hide most labels of a real data set, evaluate, reveal the truth
	@mkdir -p build
	$(PY) -m halftruth demo --html build/demo.html

test: $(DEV)  ## all tests but the slow ones and the browser's, and the examples of the docstrings
	$(PYTEST) -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

test-slow: $(DEV)  ## estimators and intervals against known truth (HALFTRUTH_DRAWS=0.1: a tenth of it)
	$(PYTEST) -m slow -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

test-browser: $(BROWSER)  ## the report in a real browser (needs chromium)
	$(PYTEST) -m browser -n $(WORKERS) --dist worksteal tests/browser $(PYTEST_ARGS)

check: $(DEV)  ## lint, format, types, import directions
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports

format: $(DEV)  ## let ruff mend what it can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

dist: $(DEV)  ## build the wheels and sdists of both packages, and run them from a clean environment
	rm -rf dist
	$(PY) -m build --no-isolation --outdir dist .
	$(PY) -m build --no-isolation --outdir dist papers
	$(PY) tools/check_dist.py dist

docs: $(DOCS)  ## build the documentation into build/site, warnings are errors
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --site-dir build/site

examples: $(DEV)  ## write the notebooks of examples/ anew from docs/tutorials
	$(PY) -m tools.notebooks

bench: $(DEV)  ## speed against other libraries, as ratios
	$(INSTALL) --group bench || echo "some libraries to compare with cannot be installed here" >&2
	$(PY) benchmarks/run.py $(BENCH_ARGS)

prior-study: $(DEV)  ## compare the estimators of the prior, writes docs/prior-estimators.md (needs HALFTRUTH_DATA)
	$(PY) -m tools.prior_study $(STUDY_ARGS)

propensity-study: $(DEV)  ## compare estimates of who gets a label, writes docs/propensity-estimators.md (needs HALFTRUTH_DATA)
	$(PY) -m tools.propensity_study $(STUDY_ARGS)

interval-study: $(DEV)  ## how often intervals hold the truth, writes docs/intervals.md (hours on two cores)
	$(PY) -m tools.interval_study $(STUDY_ARGS)

review-study: $(DEV)  ## errors after 300 reviews, by plan and by peers, writes docs/review-study.md
	$(INSTALL) --group bench || echo "some libraries to compare with cannot be installed here" >&2
	$(INSTALL) --no-deps oasis==0.1.3 || echo "oasis cannot be installed here" >&2
	$(PY) -m tools.review_study $(STUDY_ARGS)

clean:  ## remove what was built and the caches, but not the environment
	rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src papers tests tools benchmarks docs -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
