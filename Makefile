# Thin: the work is in cargo, and in .ci/prerequisites and wal/rocksdb/build for what cargo cannot do.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/pasarela-target
export PATH := $(HOME)/.cargo/bin:$(PATH)
SHELL := /bin/bash

.PHONY: run cluster cluster-test test ci soak release release-all deb sbom image sdks fresh-machine bench contention

# Installs what is missing, builds, and starts the server on 127.0.0.1:8080 with its data in ./data. The first start makes a token for operators there, unless one is configured.
run:
	@.ci/prerequisites
	@wal/rocksdb/build
	cargo build --release --locked --bin pasarela
	@PASARELA__ADMIN__GENERATE_TOKEN=true exec "$(CARGO_TARGET_DIR)/release/pasarela" serve

# Three etcd and three nodes on loopback, with their data in ./data-cluster; prints what to try. Ctrl-C ends all of them.
# PARTITIONS=3 spreads accounts over so many logs, a preview; a later call may name more.
cluster:
	@.ci/prerequisites
	@wal/rocksdb/build
	cargo build --release --locked --bin pasarela
	@deploy/cluster "$(CARGO_TARGET_DIR)/release/pasarela" data-cluster $(PARTITIONS)

# Installs what is missing and runs every test, many at a time: most of them wait for something.
test:
	@.ci/prerequisites tests
	@wal/rocksdb/build
	@tests/run

# ROUNDS rounds of faults on three etcd and three nodes under load, and an upgrade from the last release, which is built
# once (docs/operating.md, More than one machine).
cluster-test:
	@.ci/prerequisites tests
	@wal/rocksdb/build
	ROUNDS=$(or $(ROUNDS),50) cargo test --release --locked --test cluster rounds -- --nocapture
	cargo test --release --locked --test cluster -- --ignored --nocapture --test-threads 1
	PASARELA_BEFORE=$$(tests/cluster/last-release) && export PASARELA_BEFORE && \
	  cargo test --release --locked --test cluster upgrading -- --nocapture

# What a change must pass.
ci:
	.ci/run

# What the gate does briefly, for hours (docs/testing.md): SEEDS histories of the whole engine, CRASHES kills, POWER_CUTS
# power cuts, DAMAGES wrong bytes, ROUNDS of hostile banks, nodes, feeds, files and full disks, FUZZ_SECONDS of each fuzz
# target.
soak:
	@.ci/prerequisites
	@wal/rocksdb/build
	handoff/loom
	SIMULATION_SEEDS=$(or $(SEEDS),1000000) cargo test --locked --test simulation every_seed -- --nocapture
	PARTITIONS_SEEDS=$(or $(PARTITIONS),100000) cargo test --locked --test simulation partitions_keep -- --nocapture
	CRASHES=$(or $(CRASHES),10000) POWER_CUTS=$(or $(POWER_CUTS),400) CRASH_STEPS=all cargo test --locked --test crash -- load:: start:: power:: --nocapture
	DAMAGES=$(or $(DAMAGES),1000) cargo test --locked --test recovery whatever_byte -- --nocapture
	set -e; for round in $$(seq $(or $(ROUNDS),10)); do \
	  cargo test --locked --test rails -- answers connections wire claims reconciliation wompi_events wompi_codes; \
	  cargo test --locked --test evm; \
	  cargo test --locked --test api -- feeds disk attempts webhooks_tries; \
	done
	PROPTEST_CASES=100000 cargo test --locked --lib -- checkout::pages reconciliation::statement
	fuzz/soak $(or $(FUZZ_SECONDS),3600)

# What operators install: $(CARGO_TARGET_DIR)/dist/pasarela, stripped, and its symbols beside it in pasarela.debug.
release:
	@.ci/prerequisites
	pgo/cargo build --profile dist --locked --bin pasarela
	@pgo/found "$(CARGO_TARGET_DIR)/dist/pasarela" $(PROFILE_LEAST)
	@deploy/strip "$(CARGO_TARGET_DIR)/dist/pasarela"

# A Debian package of that, in $(CARGO_TARGET_DIR)/debian.
deb: release
	@deploy/deb "$(CARGO_TARGET_DIR)/dist/pasarela" "$(CARGO_TARGET_DIR)/debian"

# What the binary is made of, as CycloneDX: $(CARGO_TARGET_DIR)/debian/pasarela.cdx.json.
sbom:
	@.ci/prerequisites
	@.ci/tools cargo-cyclonedx
	@deploy/sbom "$(CARGO_TARGET_DIR)/debian"

# The container images pasarela:VERSION, of the same binary, and pasarela-sandbox:VERSION, by buildah, podman or docker.
image: release
	cargo build --release --locked --package sandbox
	@deploy/image "$(CARGO_TARGET_DIR)/dist/pasarela"
	@deploy/image "$(CARGO_TARGET_DIR)/release/pasarela-sandbox"

# The packages of the SDKs, in $(CARGO_TARGET_DIR)/sdks. Nothing is published.
sdks:
	@sdks/build "$(CARGO_TARGET_DIR)/sdks"

# All that is handed out of a release, from its commit, in $(CARGO_TARGET_DIR)/release-VERSION: the programs, the Debian
# package, images, SBOM, SDKs, a compose file, checksums (docs/building.md). TRIAL=1 takes another commit.
release-all:
	@deploy/release-all --check
	@.ci/prerequisites
	@.ci/tools cargo-deb cargo-cyclonedx >/dev/null
	@$(MAKE) --no-print-directory release PROFILE_LEAST=90
	cargo build --release --locked --package sandbox
	@deploy/release-all "$(CARGO_TARGET_DIR)/dist/pasarela" "$(CARGO_TARGET_DIR)/release/pasarela-sandbox" "$(CARGO_TARGET_DIR)"

# README's first command, "Try it", the package and the tests' prerequisites in bare Debian roots. Needs root; takes a
# quarter of an hour each.
fresh-machine:
	tests/fresh-machine bookworm trixie

# Measures everything beside its baselines of the same run, in some 20 minutes, and writes benches/report/.
# BENCH="--only http,engine" runs these parts alone; `pasarela-bench --help` has them one by one.
bench: release
	pgo/cargo build --profile dist --locked --package load
	cc -O2 -shared -fPIC -o "$(CARGO_TARGET_DIR)/slow_sync.so" benches/load/slow_sync.c -ldl
	"$(CARGO_TARGET_DIR)/dist/pasarela-bench" all --slow-sync "$(CARGO_TARGET_DIR)/slow_sync.so" --out benches/report --commit "$$(git rev-parse --short HEAD 2>/dev/null)" $(BENCH)

# One hot balance under PostgreSQL, Redis, TigerBeetle (the program that TIGERBEETLE names) and this: speed, and a verdict
# on each under kill -9, in some 20 minutes. Writes the page to CONTENTION_OUT. CONTENTION="--only redis" runs that alone.
contention: release
	pgo/cargo build --profile dist --locked --package load
	benches/contention/build "$(CARGO_TARGET_DIR)/contention"
	PASARELA_BIN="$${PASARELA_BIN:-$(CARGO_TARGET_DIR)/dist/pasarela}" PASARELA_BENCH_BIN="$${PASARELA_BENCH_BIN:-$(CARGO_TARGET_DIR)/dist/pasarela-bench}" \
	  "$(CARGO_TARGET_DIR)/contention/contention" --out "$(or $(CONTENTION_OUT),$(CARGO_TARGET_DIR)/contention/report)" --commit "$$(git rev-parse --short HEAD 2>/dev/null)" $(CONTENTION)
