# Everything happens in .venv; nothing needs root. Python 3.10 or later, a Rust toolchain, a C compiler.
#
#   make demo    remake a paper: its figures, and a table of what it claims
#   make test    all tests, Rust and Python
#   make lint    format, lints, types, licences
#   make audit   what we depend on: licences, sources, known weaknesses
#   make test-long   the tests that take minutes
#   make bench   how fast this machine simulates
#   make fast    longfat compiled once more, for what it does most: about a fifth faster, in five minutes
#   make playground  the engine as WebAssembly, in a page that opens anywhere
#   make live    the programs behind `longfat link` and `longfat live`: real links, real TCP, real QUIC; Linux only
#   make live-test   real links between namespaces, which need root
#   make docs    these documents as a site, with a reference made from the program
#   make dist    wheel and source distribution, tried in empty environments
#   make clean   remove what was built

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# How the module is compiled. `--profile dev --features as-for-tests` makes it of what the programs of the tests are
# made of: compiled beside them in a small part of the time, slower to simulate, with every assertion on.
export MODULE_OPTIONS ?= --profile release

SOURCES := Cargo.toml Cargo.lock pyproject.toml $(wildcard .cargo/config.toml) \
	$(shell find crates -name target -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)

.PHONY: demo test test-rust test-python test-links test-programs test-long lint lint-rust lint-python audit bench fast llvm-tools playground live live-test docs dist build clean
.DEFAULT_GOAL := demo

demo: build
	$(BIN)/longfat paper exp-tcp --scale quick

test: test-rust test-python

# The two crates left out have none; clippy compiles them.
RUST := --workspace --exclude longfat-bench --exclude longfat-wasm --locked

# What of real links needs no clang, in the folder where all that the main workspace needs too has been built. The five
# tests of longfat-quic are left to live-test: TLS for them takes two thirds as long to compile as all the rest.
LINKS := --manifest-path live/Cargo.toml $(addprefix --package longfat-,link live tcp-host tcp-tables) --locked \
	--target-dir $(or $(CARGO_TARGET_DIR),target)
LINUX := $(filter Linux,$(shell uname -s))

# The same random cases each time: a test that fails, fails because of a change. test-long draws new ones, and more.
test-rust:
	PROPTEST_RNG_SEED=1988 PROPTEST_CASES=100 cargo test $(RUST)

# What real links do with packets, and what drives the controllers of Linux, without a link; Linux only.
test-links:
	cargo test --quiet $(LINKS)

# The programs of these two: compiled, not run.
test-programs:
	cargo test --no-run $(RUST)
	$(if $(LINUX),cargo test --no-run $(LINKS))

test-python: build
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 5 --dist worksteal

# Theory at loss rates that need thousands of millions of packets, hundreds of random networks, thousands of random
# scenarios.
test-long: build
	cargo test --workspace --locked -- --ignored
	@# TLS and sockets, in a workspace of their own.
	cargo test --locked --manifest-path examples/quic/Cargo.toml --target-dir $(or $(CARGO_TARGET_DIR),target)/quic
	@# The fuzz targets compile; without libFuzzer, which takes a nightly compiler to link and C++ to build.
	CUSTOM_LIBFUZZER_PATH=/none/libfuzzer.a cargo check --quiet --locked --manifest-path fuzz/Cargo.toml \
		--target-dir $(or $(CARGO_TARGET_DIR),target)
	PROPTEST_CASES=5000 cargo test --release --locked -p longfat-sim --test all properties::
	PROPTEST_CASES=2000 cargo test --release --locked -p longfat-control -p longfat-fluid -p longfat-queue \
		-p longfat-scenario -p longfat-units
	$(BIN)/python -m pytest -m long
	bench/instructions --check

# The whole packet path on a quiet machine: median of five runs each, then criterion's statistics of short ones.
bench:
	cargo run --release --locked -p longfat-bench -- --repeat 5 bench/scenarios/*.toml scenarios/two-way-500M.toml
	cargo bench --locked -p longfat-bench

playground: build
	crates/wasm/build python/longfat/playground/engine.wasm.gz
	$(BIN)/longfat explore --save docs/playground/playground.html dist

# The third one has a part in the kernel: on Debian, clang libelf-dev zlib1g-dev pkg-config.
live:
	cargo build --release --locked --manifest-path live/Cargo.toml --target-dir live/target --package longfat-link \
		--package longfat-quic
	@command -v $${CLANG:-clang} >/dev/null || { echo "longfat-link and longfat-quic are built, and longfat-tcp needs clang: \
	apt install clang libelf-dev zlib1g-dev pkg-config"; exit 1; }
	cargo build --release --locked --manifest-path live/Cargo.toml --target-dir live/target --package longfat-tcp

# Only the links themselves need root.
SUDO ?= $(shell [ "$$(id -u)" = 0 ] || echo sudo)

live-test: build live
	cargo clippy --manifest-path live/Cargo.toml --target-dir live/target --all-targets --locked -- -D warnings
	cargo test --manifest-path live/Cargo.toml --target-dir live/target --locked
	$(SUDO) $(BIN)/python -m pytest -m live tests/python/test_live_link.py tests/python/test_live_tcp.py \
		tests/python/test_live_quic.py tests/python/test_live_kernel.py

# What only the site needs comes with its first build, which is the only one that needs a network.
# MyST for Python 3.10 does not go with the other packages at their pinned versions.
docs: build .venv/docs
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --locked
	$(BIN)/python docs/site/build.py --rust $(or $(CARGO_TARGET_DIR),target)/doc

.venv/docs: .venv/packages
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed for the site: make clean, make PYTHON=python3.12 docs"; exit 1; }
	@$(PIP) install --constraint constraints.txt --group docs
	@touch $@

dist: build
	PYTHON=$(PYTHON) .ci/dist

lint: lint-rust lint-python

lint-rust:
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo fmt --manifest-path live/Cargo.toml --all --check
	cargo fmt --manifest-path examples/rust-controller/Cargo.toml --check
	cargo fmt --manifest-path examples/quic/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@# The rest of live is linted by live-test.
	$(if $(LINUX),cargo clippy $(LINKS) --package longfat-quic --all-targets -- -D warnings)

lint-python: build
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@for room in papers/*/; do $(BIN)/mypy $$room || exit 1; done
	$(BIN)/python -m pytest --quiet tests/python/test_dependencies.py

audit: build
	.ci/audit

build: .venv/built

# The environment: what longfat needs, and what its development needs, at the pinned versions.
.venv/packages: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or later is needed: make PYTHON=python3.12"; exit 1; }
	@echo "making the Python environment in .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) install --constraint constraints.txt pip
	@$(PIP) install --constraint constraints.txt --group dev
	@touch $@

# The compiled module, with the package installed in place: changes of Python files need no build.
# Where the site is asked for too, its packages come first: nothing is added to an environment that others read.
.venv/built: .venv/packages $(SOURCES) | $(if $(filter docs,$(MAKECMDGOALS)),.venv/docs)
	@command -v cargo >/dev/null || { echo "a Rust toolchain is needed: cargo was not found"; exit 1; }
	@echo "building longfat (about two minutes the first time)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --constraint constraints.txt --no-build-isolation \
		--config-settings maturin.build-args="--locked $(MODULE_OPTIONS)" --editable .
	@touch $@

# Compiled twice: to count what bench/training.py makes it do, and then for that. A change of the sources brings back the
# other build.
fast: .venv/packages llvm-tools
	@echo "building longfat twice (about five minutes)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --constraint constraints.txt --no-build-isolation --force-reinstall \
		--no-deps --config-settings maturin.build-args="--locked --pgo" --editable .
	@touch .venv/built

# What merges the counts comes with the toolchain, as a component.
llvm-tools:
	@[ -n "$(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata)" ] || rustup component add llvm-tools \
		|| { echo "llvm-profdata of the toolchain is needed: rustup component add llvm-tools"; exit 1; }

clean:
	rm -rf .venv target live/target python/longfat/*.so python/longfat/playground/engine.wasm.gz docs/playground/playground.html dist site
