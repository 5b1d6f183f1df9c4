# A thin front to CMake and scripts/; `make help` lists the targets.
PREFIX ?= /usr/local
PRESET ?= default
SECONDS ?= 60
JOBS ?=
export JOBS

configure = cmake --preset $(1) >/dev/null
compile = cmake --build $(1) $(if $(JOBS),-j $(JOBS))
programs = arena-coord arena-worker arena-probe

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'
demo: ## build the programs and run example_configs/demo_cpu.yaml on CPU slots, ending with the report
	@scripts/install_deps.sh build
	@$(call configure,$(PRESET))
	@$(call compile,build) --target $(programs)
	build/bin/arena-coord --config example_configs/demo_cpu.yaml --workspace-root build/demo

build: ## build the programs and the tests
	@scripts/install_deps.sh build
	@$(call configure,$(PRESET))
	@$(call compile,build)

test: build ## run the unit, contract and end-to-end tests
	@scripts/run_ctest.sh build test 'unit|contract|e2e'

test-lab: ## as root: run the tests against heavy real parts (tests/lab)
	@scripts/install_deps.sh build lab
	@$(call configure,$(PRESET))
	@$(call compile,build) --target $(programs)
	@scripts/run_lab.sh

asan: ## run the unit and contract tests under AddressSanitizer and UBSan
	@scripts/install_deps.sh build
	@$(call configure,asan)
	@$(call compile,build-asan) --target unit-tests
	@scripts/run_ctest.sh build-asan asan unit

tsan: ## run the unit and contract tests under ThreadSanitizer
	@scripts/install_deps.sh build
	@$(call configure,tsan)
	@$(call compile,build-tsan) --target unit-tests
	@scripts/run_ctest.sh build-tsan tsan unit

lint: ## check layers, format, shell scripts, compiler warnings and clang-tidy
	@scripts/install_deps.sh build lint
	@scripts/lint.sh

format: ## rewrite the sources with clang-format
	@scripts/install_deps.sh lint
	@git ls-files -co --exclude-standard '*.cc' '*.h' | xargs clang-format-14 -i

bench: ## build the benchmarks optimized and run them all
	@scripts/install_deps.sh build bench
	@$(call configure,bench)
	@$(call compile,build-bench)
	@scripts/bench.sh

fuzz: ## fuzz every parser of outside input, SECONDS=60 each
	@scripts/install_deps.sh build fuzz
	@$(call configure,fuzz)
	@$(call compile,build-fuzz) --target fuzz-targets
	@scripts/fuzz.sh $(SECONDS)

install: ## install programs and data below PREFIX=/usr/local (DESTDIR is obeyed)
	@scripts/install_deps.sh build
	@$(call configure,$(PRESET))
	@$(call compile,build) --target $(programs)
	cmake --install build --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build build-asan build-tsan build-bench build-fuzz

.PHONY: help demo build test test-lab asan tsan lint format bench fuzz install clean
