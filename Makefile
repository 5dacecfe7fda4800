# Two commands matter: `make demo` and `make test`. Each sets up all it needs in .venv.
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
export UV_COMPILE_BYTECODE := 1
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# venv itself fails in a folder whose name has letters that the locale lacks. The commands need no such help: make hostile SECTION=clean.
export PYTHONUTF8 := 1
# uv keeps a cache below the home, and fails where that cannot be written: then it keeps none.
ifneq ($(shell test -w "$${XDG_CACHE_HOME:-$$HOME/.cache}" || test -w "$$HOME" && echo yes),yes)
export UV_NO_CACHE := 1
endif
export VIRTUAL_ENV := $(CURDIR)/.venv
LOCK := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --no-strip-extras

.PHONY: demo test coverage quick lint hostile gold axe bench bench-quick real classifier-quality structure-quality fixtures pictures docs dist packages wheel lowest lock clean thorough

demo: .venv/.ready
	@$(BIN)/python examples/demo.py
	@echo; echo "How well is a network learned back from imprecise rows drawn from it? (possnet evaluate)"; echo
	@rm -rf build/demo && $(BIN)/possnet evaluate --out build/demo
	@$(BIN)/python examples/demo.py --next

# Without coverage, which makes the tests of the mathematics take three times the CPU seconds; .ci/run has it. A worker keeps its part
# of the files until the other has none left, so that servers, browsers and experiments shared by a file are made once.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist worksteal
test: lint
	@$(PYTEST) $(MEASURED)
	@echo "make test: all green"

# The same checks, and which lines they run: below 95 percent fails.
coverage:
	@$(MAKE) --no-print-directory test MEASURED="--cov --cov-report=term"

# The properties with 200 examples each, for a change of the mathematics: about three times as long.
thorough: .venv/.ready
	@HYPOTHESIS_PROFILE=thorough $(PYTEST)

quick: lint
	@HYPOTHESIS_PROFILE=quick $(PYTEST) -m "not slow"

# Inputs, faults and calls meant to break possnet: all sections, or one, each for ten minutes or as long as asked, resumed where the last
# run ended: make hostile SECTION=parquet SECONDS=60. The counts are in docs/hostile.json and docs/hostile.md, what failed in build/hostile.
SECONDS ?= 600
SECTION ?=
hostile: .venv/.ready .venv/.fuzz
	@$(BIN)/python -m tests.hostile --section "$(SECTION)" --seconds $(SECONDS)

lint: .venv/.ready
	@$(BIN)/ruff format --check -q . || { echo "run: $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/ruff check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# Everything in .venv comes from the hash-locked lists; hatchling is among them, so the build needs no network of its own.
# The path to src/ is written relative: Python reads such files in the locale's letters, which may lack those of this folder's name.
# uv is quick; where it fails and pip does not (a certificate only pip knows of, a locale that is not UTF-8), pip does the same work.
.venv/.ready: requirements/uv.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(f"possnet needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}. Name another: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --require-hashes -r requirements/uv.txt
	$(BIN)/uv pip install -q --require-hashes -r requirements/dev.txt || $(BIN)/python -m pip install -q --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install -q --no-deps --no-build-isolation -e . || $(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@$(PYTHON) -c 'import pathlib; [file.write_text("../../../../src\n") for file in pathlib.Path(".venv").glob("lib/python*/site-packages/*possnet.pth")]'
	@touch $@

# The gold-standard networks (asia ... munin, link) that ship inside pgmpy; its own dependencies are not wanted.
gold: .venv/.gold
.venv/.gold: .venv/.ready requirements/gold.txt
	$(BIN)/uv pip install -q --no-deps --require-hashes -r requirements/gold.txt
	@touch $@

# atheris, which only `make hostile` needs, in a folder beside the environment.
.venv/.fuzz: .venv/.ready requirements/fuzz.txt
	$(BIN)/uv pip install -q --target .venv/fuzz --no-deps --require-hashes -r requirements/fuzz.txt
	@touch $@

# axe-core, with which the browser tests check that pages are accessible; the lock has its hash and no address.
axe: .venv/.axe
.venv/.axe: .venv/.ready requirements/axe/package-lock.json
	@mkdir -p .venv/axe && cp requirements/axe/package.json requirements/axe/package-lock.json .venv/axe/
	npm ci --prefix .venv/axe --ignore-scripts --no-audit --no-fund --silent
	@touch $@

# The peers live in an environment of their own; possnet never depends on them.
.venv-peers/.ready: .venv/.ready requirements/peers.txt
	$(PYTHON) -m venv .venv-peers
	$(BIN)/uv pip install -q --python .venv-peers/bin/python --require-hashes -r requirements/peers.txt
	@touch $@

# Every target beside the peers, about forty minutes; instruction counts need valgrind.
bench: gold .venv-peers/.ready
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/walks.py

# Which structures are found behind imprecise rows: hours in all; what there is goes on, `--minutes` and `--only` bound it.
structure-quality:
	$(BIN)/python benchmarks/structure_quality.py run

# The default on real tables of candidates, and on made ones: docs/real-tables.md. make real DATA=folder
real: .venv/.ready
	$(BIN)/python benchmarks/real.py $(DATA) --write

# The classifier beside baselines, MAPIE and crepes: docs/classifier-quality.md. make classifier-quality DATA=folder
classifier-quality: .venv-peers/.ready
	cd benchmarks && ../$(BIN)/python classifier_quality.py $(DATA) --write --peer ../.venv-peers/bin/python

# A slice of five minutes; docs/benchmarks.md stays as it is.
bench-quick: gold .venv-peers/.ready
	$(BIN)/python benchmarks/report.py --quick

# The committed pictures of README.md and docs/: made anew, then looked at.
pictures: demo
	$(BIN)/python examples/figures/report_picture.py
	$(BIN)/python examples/figures/explorer_picture.py
	$(BIN)/python examples/figures/explorer_story.py
	$(BIN)/python examples/figures/explorer_large.py
	$(BIN)/python examples/figures/rooms_picture.py
	$(BIN)/python examples/figures/explaining_pictures.py
	$(BIN)/python examples/figures/tutorial_pictures.py
	$(BIN)/python examples/recovering.py --write

# docs/cli.md, from the commands themselves; then the site, docs/_build/html/index.html, without the network.
docs: .venv/.docs
	$(BIN)/python -c "from possnet.cli.manual import manual; print(manual(), end='')" > docs/cli.md
	@PYTHONPATH=.venv/docs $(BIN)/python docs/_site/build.py

# Sphinx and its theme, which only `make docs` needs, in a folder beside the environment.
.venv/.docs: .venv/.ready requirements/docs.txt
	$(BIN)/uv pip install -q --target .venv/docs --no-deps --require-hashes -r requirements/docs.txt
	@touch $@

# Wheel and sdist in dist/, checked; the README's commands from the wheel, with the newest and the lowest versions of all dependencies:
# about two and a half minutes of one core.
dist: packages
	@$(MAKE) --no-print-directory wheel lowest

# Wheel and sdist in dist/, and whether a registry would take them.
packages: .venv/.release
	rm -rf dist && $(BIN)/python -m hatchling build -d dist
	PYTHONPATH=.venv/release $(BIN)/python -m twine check --strict dist/*
	@if grep -q '^repository = ""' pyproject.toml; then echo "pyproject.toml: tool.possnet.repository is empty: these packages have no addresses and no pictures"; fi

# The README's commands from the wheel: with the newest versions, on the Python that is named; with the lowest, on the lowest one.
wheel: .venv/.ready
	rm -rf build/release/wheel && $(BIN)/python -m hatchling build -t wheel -d build/release/wheel
	$(BIN)/python .ci/try_wheel.py build/release/wheel/*.whl requirements/newest.txt build/release/newest --python $(PYTHON)

LOWEST_PYTHON ?= python3.11
lowest: .venv/.ready
	rm -rf build/release/wheel && $(BIN)/python -m hatchling build -t wheel -d build/release/wheel
	$(BIN)/python .ci/try_wheel.py build/release/wheel/*.whl requirements/lowest.txt build/release/lowest --python $(LOWEST_PYTHON)

# twine, which only `make dist` needs, in a folder beside the environment.
.venv/.release: .venv/.ready requirements/release.txt
	$(BIN)/uv pip install -q --target .venv/release --no-deps --require-hashes -r requirements/release.txt
	@touch $@

fixtures: gold .venv-peers/.ready
	$(BIN)/python benchmarks/fixtures.py
	$(BIN)/python benchmarks/precise_structures.py
	$(BIN)/python benchmarks/written_files.py
	$(BIN)/python benchmarks/other_libraries.py

lock: .venv/.ready
	$(LOCK) --upgrade pyproject.toml --group dev -o requirements/dev.txt
	$(LOCK) --upgrade --group pyproject.toml:docs -c requirements/dev.txt -o requirements/docs.txt
	echo uv | $(LOCK) --upgrade - -o requirements/uv.txt
	$(LOCK) --upgrade --no-deps requirements/gold.in -o requirements/gold.txt
	$(LOCK) --upgrade --no-deps requirements/fuzz.in -o requirements/fuzz.txt
	$(LOCK) --upgrade requirements/peers.in -o requirements/peers.txt
	$(LOCK) --upgrade requirements/release.in -o requirements/release.txt
	$(LOCK) --upgrade --extra all pyproject.toml -o requirements/newest.txt
	$(LOCK) --upgrade --extra all --resolution lowest-direct pyproject.toml -o requirements/lowest.txt

clean:
	rm -rf .venv .venv-peers .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* build dist docs/_build
