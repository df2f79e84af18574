# The door for people: `make run` starts a server, `make test` runs every test.

JOBS ?= $(shell nproc)
# Where `make run` keeps its data, what it listens on, and further flags.
DATA ?= build/data
LISTEN ?= 0.0.0.0:9090
FLAGS ?=

.PHONY: run release test test-asan test-tsan bench format lint clean

release:
	@src/build/install-packages.sh build
	@cmake --preset release -DNARTHEX_TESTS=OFF -DNARTHEX_BENCH=OFF >build-configure.log 2>&1 \
	  || { cat build-configure.log; rm -f build-configure.log; exit 1; }
	@rm -f build-configure.log
	cmake --build build/release -j $(JOBS) --target narthex

run: release
	@mkdir -p $(DATA)
	@echo "narthex: http://$(subst 0.0.0.0,localhost,$(LISTEN))/ configuration configs/narthex.yml, data in $(DATA)"
	build/release/narthex --config.file=configs/narthex.yml --storage.tsdb.path=$(DATA) \
	  --web.listen-address=$(LISTEN) $(FLAGS)

test:
	@src/build/install-packages.sh test
	cmake --preset dev
	cmake --build build/dev -j $(JOBS)
	ctest --test-dir build/dev -j $(JOBS) --output-on-failure

test-asan test-tsan: test-%:
	@src/build/install-packages.sh test
	cmake --preset $*
	cmake --build build/$* -j $(JOBS)
	ctest --test-dir build/$* -j $(JOBS) -L unit --output-on-failure

bench:
	@src/build/install-packages.sh test
	cmake --preset release -DNARTHEX_TESTS=OFF -DNARTHEX_BENCH=ON
	cmake --build build/release -j $(JOBS)
	@for bench in build/release/*_bench; do echo "== $$bench"; "$$bench" || exit 1; done

format:
	@src/build/install-packages.sh lint
	git ls-files '*.h' '*.cc' | xargs clang-format -i

# clang-tidy over the sources that differ from the main branch.
lint:
	@src/build/install-packages.sh lint
	@src/build/install-packages.sh test
	cmake --preset dev -DNARTHEX_PCH=OFF >/dev/null
	git diff --name-only --diff-filter=d $$(git merge-base HEAD main) -- '*.cc' \
	  | xargs -r -P $(JOBS) -n 1 clang-tidy -quiet -p build/dev

clean:
	rm -rf build
