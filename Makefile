SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
SWIFT ?= swift
# SwiftPM passes the traits to the compiler in the order of a hashed set: with another order every time it plans, it would
# compile everything again.
export SWIFT_DETERMINISTIC_HASHING = 1
PREFIX ?= /usr/local

.PHONY: help setup build run chat test verify lint apple format bench fuzz docs install install-dev clean

help:
	@echo "make run      build, publish, host, pull, verify, load and answer: the whole system once"
	@echo "make chat     talk to the default model"
	@echo "make test     every test, the long suites in part"
	@echo "make verify   everything in full; STAGE=... for one stage, one of: $$(scripts/verify.sh --stages)"
	@echo "make bench    measure against llama.cpp's own tools and curl; BENCH=engine, BENCH=peers and BENCH=extremes for the rest"
	@echo "make fuzz     feed the parsers hostile bytes; FUZZ_SECONDS=... for each"
	@echo "make docs     the reference, as web pages in .build/docs"
	@echo "make apple    compile for iOS and macOS, on Linux: scripts/apple/README.md"
	@echo "make install  the hearth command into PREFIX (default $(PREFIX))"
	@echo "make install-dev  llama.cpp into PREFIX, for Swift packages that depend on Hearth by URL"
	@echo "make setup build lint format clean"
	@echo "BACKEND=vulkan with setup and build: also compute on GPUs, through Vulkan"

setup:
	@scripts/setup.sh tests

build:
	@SWIFT=$(SWIFT) scripts/build.sh

run: build
	@scripts/first-run/run.sh

chat: build
	@scripts/first-run/chat.sh

test: setup
	@scripts/tests/run.sh

verify: setup
	@scripts/verify.sh $(STAGE)

lint:
	@$(SWIFT) format lint --strict --recursive --parallel Sources Tests Fuzz Benchmarks Examples Package.swift
	@for script in scripts/*.sh scripts/*/*.sh .ci/run; do bash -n "$$script"; done
	@scripts/lint/words.py
	@scripts/lint/wrap.py --check *.md docs/*.md docs/requirements/*.md scripts/*.md
	@scripts/lint/index.py --check
	@scripts/documents/shell.py --check
	@scripts/page/table.py --check
	@scripts/apple/words.py --check
	@scripts/tests/requirements.py
	@# Addresses are read by URL(address:) and extended by below(_:): Foundation's own ways encode triplets a second time.
	@! grep -rnE 'URL(\.init)?\(string:|\.appending\(path:' Sources --include=*.swift | grep -vE 'encodingInvalidCharacters: false|^Sources/Hearth(HTTP/Addresses|TestSupport)/'
	@# An optimised build has no metadata for a task-local value that is an optional function, and crashes there (6.3).
	@! grep -rnE '@TaskLocal.*->' Sources Tests Fuzz Benchmarks

apple:
	@scripts/apple/run.sh

format:
	@$(SWIFT) format --in-place --recursive --parallel Sources Tests Fuzz Benchmarks Examples Package.swift

bench: build
	@scripts/setup.sh bench
	@scripts/bench/run.sh $(BENCH)

fuzz: setup
	@scripts/fuzz/run.sh

docs: setup
	@scripts/tests/docs.sh

install: build
	@scripts/install.sh "$(PREFIX)"

install-dev:
	@scripts/setup.sh
	@scripts/install-dev.sh "$(PREFIX)"

clean:
	@rm -rf .build .build-*
