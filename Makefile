# Each target sets up what it needs: a fresh machine wants only Python 3.11+, pip and make.
VENV := .venv
# On two cores, one works while the others wait for servers and disks.
WORKERS := 3
PYTHON := $(VENV)/bin/python
PROJECTS := pyproject.toml $(wildcard packages/*/pyproject.toml)

INTEGRATIONS := .integrations
BROWSER := .browser
TYPESCRIPT := clients/typescript

.PHONY: demo test test-all test-browser test-integrations test-typescript test-wheels coverage check docs bench bench-check size wheels \
	changelog-draft mutants release-check clean

demo: $(VENV)/.installed ## a small real story, with the local model
	$(PYTHON) -m memorist demo

test: $(VENV)/.dev ## the fast tests
	$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not browser"

test-all: $(VENV)/.dev ## every test, the slow ones too
	$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal -m "not browser"

test-browser: $(BROWSER)/.installed ## the inspector in Debian's Chromium, headless
	$(PYTHON) -m pytest tests/browser -m browser

test-integrations: $(INTEGRATIONS)/.installed ## the adapters, by our tests and those of each framework
	$(INTEGRATIONS)/bin/basedpyright --project tests/integrations
	$(INTEGRATIONS)/bin/python -m pytest tests/integrations -o asyncio_default_fixture_loop_scope=function

test-wheels: $(VENV)/.dev ## build every package, and use the wheels in clean environments; takes minutes
	$(PYTHON) tools/wheels.py

coverage: $(VENV)/.dev ## how much of the source the fast tests run; fails below the floor in pyproject.toml
	rm -f .coverage .coverage.*
	$(PYTHON) -m coverage run -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not browser" --ignore tests/attacks --ignore tests/shape  # they count steps and modules
	$(PYTHON) -m coverage combine --quiet
	$(PYTHON) -m coverage report --skip-covered

test-typescript: $(VENV)/.dev $(TYPESCRIPT)/node_modules/.installed ## the TypeScript client and its examples; needs Node 20
	npm --prefix $(TYPESCRIPT) test

check: $(VENV)/.dev ## lint, format, types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/basedpyright

docs: $(VENV)/.dev ## the documentation site, in build/site; read it with `python3 -m http.server -d build/site`
	$(PYTHON) docs/site.py
	$(VENV)/bin/zensical build --strict --clean
	$(PYTHON) docs/site.py --check

bench: $(VENV)/.dev ## speed and size of the engine; takes minutes
	$(PYTHON) benchmarks/engine.py

bench-check: $(VENV)/.dev ## the quick ones of benchmarks/expected again; fails on a drop beyond noise
	$(PYTHON) benchmarks/check.py

wheels: $(VENV)/.dev ## sdists and wheels of every package, in dist/
	$(PYTHON) tools/wheels.py --build-only --out dist

changelog-draft: $(VENV)/.dev ## the entry that the fragments in changelog.d make
	$(PYTHON) -m towncrier build --draft --version $$($(PYTHON) -c "import memorist; print(memorist.__version__)")

mutants: $(VENV)/.dev ## faults planted in gates, secrets, caps, fusion and timeline: the tests must find 95 %; takes many minutes
	$(PYTHON) tools/mutants.py

release-check: $(VENV)/.dev ## everything that must hold before a release; takes many minutes
	$(PYTHON) tools/release_check.py

size: $(PYTHON) ## the installed size of the default, by package; fails above 300 MB
	$(PYTHON) benchmarks/size.py

clean:
	rm -rf $(VENV) $(INTEGRATIONS) $(BROWSER) $(TYPESCRIPT)/node_modules $(TYPESCRIPT)/build $(TYPESCRIPT)/dist

$(PYTHON) $(INTEGRATIONS)/bin/python:
	python3 -m venv $(@D:/bin=)

# All folders in one command, the root first: no package index has them. Tests want all of them, a user only the models.
$(VENV)/.installed: $(PYTHON) $(PROJECTS)
	$(PYTHON) -m pip install --quiet -e ".[server,mcp,agents,import]" -e packages/memorist-client -e packages/memorist-models -e packages/memorist-server -e packages/memorist-agents -e packages/memorist-import
	touch $@

$(VENV)/.dev: $(PYTHON) $(PROJECTS)
	$(PYTHON) -m pip install --quiet -e ".[dev]" $(addprefix -e ,$(wildcard packages/*))
	touch $@ $(VENV)/.installed

$(INTEGRATIONS)/.installed: $(INTEGRATIONS)/bin/python $(PROJECTS) tests/integrations/requirements.txt
	$(INTEGRATIONS)/bin/python -m pip install --quiet -r tests/integrations/requirements.txt -e . -e packages/memorist-client -e packages/memorist-models -e packages/memorist-agents -e packages/memorist-server
	touch $@

$(BROWSER)/.installed: $(VENV)/.dev tests/browser/requirements.txt tests/browser/install.sh
	$(PYTHON) -m pip install --quiet -r tests/browser/requirements.txt
	tests/browser/install.sh $(BROWSER)
	touch $@

$(TYPESCRIPT)/node_modules/.installed: $(TYPESCRIPT)/package-lock.json
	npm --prefix $(TYPESCRIPT) ci --ignore-scripts --no-audit --no-fund
	touch $@
