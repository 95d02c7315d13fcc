# The front door. `make` builds; `make setup`, `demo` and `test` also install what is missing.
.PHONY: all setup help demo test sanitize lint test-python test-spark wheel soak bench results \
        paper fuzz mutants screenshots dist deb portable sbom site release-check install clean

THREADS ?= $(shell nproc)
PREFIX  ?= /usr/local
BUILD   := cmake --build build --parallel $(THREADS)

all: build/build.ninja ## the program build/dploc and the two libraries; installs nothing
	@$(BUILD) --target dploc dploc_static dploc_shared

build/build.ninja:
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null || \
	    { echo "make: 'make setup' installs what is missing (Debian packages)" >&2; exit 1; }

setup:               ## installs what building and testing need
	@scripts/setup.sh

help:                ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

demo: setup          ## simulates a city and runs the main job on it
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh

test:                ## the whole suite, release build
	@scripts/setup.sh browser
	@$(MAKE) --no-print-directory build/build.ninja
	@$(BUILD)
	@ctest --test-dir build --output-on-failure --parallel $(THREADS)

sanitize: setup      ## the suite under ASan and UBSan, without slow, browser and texts' tests
	@test -f build-sanitize/build.ninja || cmake --preset sanitize >/dev/null
	@cmake --build build-sanitize --parallel $(THREADS)
	@ctest --test-dir build-sanitize --output-on-failure --parallel $(THREADS) \
	    -LE 'slow|browser|texts'

lint:                ## layout, mutants that apply, links, clang without warnings, its bug checks
	@scripts/setup.sh lint
	@scripts/lint.sh

test-spark: setup    ## dploc.spark on a real cluster of two workers on this machine; minutes
	@$(MAKE) --no-print-directory build/build.ninja
	@$(BUILD) --target dploc_python
	@scripts/test_spark.sh

test-python:         ## import dploc with pandas 3, pyarrow, Polars, DuckDB, GeoPandas, MovingPandas
	@scripts/setup.sh python
	@$(MAKE) --no-print-directory build/build.ninja
	@$(BUILD) --target dploc dploc_python duckdb_library
	@scripts/test_python.sh $(or $(ENVIRONMENTS),test)

wheel:               ## dist/dploc-*.whl for every CPython from 3.9 on, tried in an empty environment
	@scripts/setup.sh python
	@scripts/wheel.sh

soak:                ## long forms: the suite with full repetition counts, fuzzers, operators
	@scripts/setup.sh browser
	@$(MAKE) --no-print-directory build/build.ninja
	@$(BUILD)
	@DPLOC_SOAK=20 ctest --test-dir build --output-on-failure --timeout 7200
	@DPLOC_SOAK=50 scripts/test_spark.sh
	@scripts/test_slurm.sh
	@scripts/setup.sh fuzz
	@RUNS=$${RUNS:-6000000} scripts/fuzz.sh
	@scripts/operators.py run build/operators && scripts/operators.py table build/operators

bench: setup         ## speed and memory, as ratios within one run
	@$(MAKE) --no-print-directory build/build.ninja
	@$(BUILD)
	@bench/run.sh

results: setup all   ## the goal table of docs/RESULTS.md, measured anew (hours); RESULTS="--quick"
	@experiments/results $(RESULTS)

paper: setup all     ## the paper's experiments: DATA="trips.csv.xz ..." REGION=sf PAPER="--quick"
	@experiments/paper $(if $(DATA),--data $(DATA)) $(if $(REGION),--region $(REGION)) $(PAPER)

fuzz:                ## coverage-guided fuzzing of the readers: executions and coverage
	@scripts/setup.sh fuzz
	@scripts/fuzz.sh

mutants: setup       ## breaks the code on purpose; the suite must turn red
	@scripts/mutants.sh

screenshots:         ## the pictures in docs/images, from a report on a made-up city
	@scripts/setup.sh browser
	@$(MAKE) --no-print-directory all
	@scripts/screenshots.sh

dist: setup all      ## a source tarball with the built page, in dist/
	@scripts/dist.sh

deb: dist            ## Debian packages, in dist/
	@scripts/setup.sh release
	@scripts/deb.sh

portable: dist       ## a program with its libraries, in dist/
	@scripts/setup.sh release
	@scripts/portable.sh

sbom: setup all      ## what the program is made of, as SPDX, in dist/
	@scripts/sbom.py build/dploc dist/dploc-$$(scripts/version.sh).spdx.json

site:                ## the documentation as a static site, in build/site
	@scripts/setup.sh site
	@/usr/bin/python3 site/build.py build/site

release-check:       ## packages in fresh roots, two builds, all checkers and mutants (hours)
	@scripts/setup.sh release
	@$(MAKE) --no-print-directory all
	@scripts/release_check.sh

install: all         ## the program, libraries, header and man page, below PREFIX
	@cmake --install build

clean:               ## removes what was built
	@rm -rf build build-* out dist
