# Needs Python 3.11 or 3.12 and make; everything else is installed into .venv.
#   make demo          everything at once, until Ctrl-C (ONCE=1: ends after the results)
#   make up            web, worker and engine, until Ctrl-C
#   make test          ARGS="tests/api -k add" chooses tests
#   make lint format
#   make secrets       what docker compose needs
#   make screenshots   the README's pictures, while `make demo` runs

PYTHON := $(shell for name in $(PYTHON) python3.12 python3.11 python3; do \
  $$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2>/dev/null && echo $$name && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-compile
TORCH := $(shell sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements.lock)
export HF_HUB_OFFLINE ?= 1

SECRETS ?= var/secrets

.PHONY: setup demo up test lint format secrets screenshots clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or 3.12 is needed; name it with make PYTHON=..." >&2; exit 1; }
	@echo "Installing into $(VENV) with $(PYTHON); a few minutes the first time"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP) --no-deps $$($(BIN)/python .ci/torch_source.py $(TORCH)) $(TORCH)
	@$(PIP) --no-deps -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

demo: setup
	$(BIN)/python manage.py demo $(if $(ONCE),--once)

up: setup
	$(BIN)/python manage.py up

test: setup
	$(BIN)/python -m pytest $(ARGS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

screenshots: setup
	$(BIN)/python manage.py screenshots $(ARGS)

# For docker compose: made once, readable by the containers' users in a folder that is this user's alone.
secrets:
	@mkdir -p -m 700 $(SECRETS)
	@for name in postgres_password secret_key grafana_password; do test -s $(SECRETS)/$$name || { \
	  $(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(48))' >$(SECRETS)/$$name && chmod 444 $(SECRETS)/$$name; }; done

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
