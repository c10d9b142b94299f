# Thin: the work is in cargo, and in .ci/prerequisites for what a bare machine lacks.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/pasarela-target
export PATH := $(PATH):$(HOME)/.cargo/bin
SHELL := /bin/bash

.PHONY: run test ci bench

# Installs what is missing, builds, and starts the server on 127.0.0.1:8080 with its data in ./data. The first start makes a token for operators there, unless one is configured.
run:
	@.ci/prerequisites
	cargo build --release --locked
	@printf '\n%s\n\n' 'Starting on http://127.0.0.1:8080 with the tenant "demo" (test key pk_test_demo). In another terminal, try:'
	@printf '%s\n' '  curl -s localhost:8080/v1/balance -H "x-api-key: pk_test_demo"' \
	  '  curl -s localhost:8080/v1/test/fund -H "x-api-key: pk_test_demo" -H "content-type: application/json" -d '"'"'{"currency":"VES","amount":"1000.00"}'"'"'' \
	  '' 'Operators need the token in data/admin.token, which the command line finds there by itself:' '' \
	  '  $(CARGO_TARGET_DIR)/release/pasarela admin status' \
	  '  curl -s localhost:9090/admin/status -H "authorization: Bearer $$(cat data/admin.token)"' \
	  '' 'The whole path, from a collection to a payout, is in README.md under "Try it". Stop with Ctrl-C.' ''
	@PASARELA__ADMIN__GENERATE_TOKEN=true exec $(CARGO_TARGET_DIR)/release/pasarela serve

# Installs what is missing and runs every test.
test:
	@.ci/prerequisites tests
	cargo test --workspace --locked --no-fail-fast

# What a change must pass.
ci:
	.ci/run

# Measures everything beside its baselines and peers of the same run, in some 20 minutes, and writes benches/report/. BENCH="--only http,engine" runs these parts alone; `pasarela bench --help`
# has them one by one.
bench:
	@.ci/prerequisites
	cargo build --release --locked
	benches/peers/build $(CARGO_TARGET_DIR)/peers
	$(CARGO_TARGET_DIR)/release/pasarela bench all --peers $(CARGO_TARGET_DIR)/peers --out benches/report --commit "$$(git rev-parse --short HEAD 2>/dev/null)" $(BENCH)
