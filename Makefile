# The front door. Each target sets up all it needs; a second run installs nothing.
.PHONY: all setup browser configure demo test soak bench results paper fuzz sanitize lint mutants screenshots install clean

THREADS ?= $(shell nproc)
PREFIX  ?= /usr/local

all: configure
	@cmake --build build --parallel $(THREADS)

setup:
	@scripts/setup.sh

browser:
	@scripts/setup.sh browser

configure: setup
	@test -f build/build.ninja || cmake --preset release $(if $(PREFIX),-DCMAKE_INSTALL_PREFIX=$(PREFIX)) >/dev/null

demo: all            ## simulate a city and run the main job on it
	@scripts/demo.sh

test: browser all    ## the whole suite, release build
	@ctest --test-dir build --output-on-failure --parallel $(THREADS)

sanitize: setup      ## the suite under ASan and UBSan, without slow and browser tests
	@test -f build-sanitize/build.ninja || cmake --preset sanitize >/dev/null
	@cmake --build build-sanitize --parallel $(THREADS)
	@ctest --test-dir build-sanitize --output-on-failure --parallel $(THREADS) -LE 'slow|browser'

lint:                ## layout of the C files; every mutant still applies
	@scripts/setup.sh lint
	@scripts/format.sh --check
	@scripts/mutants.sh --check

soak: browser all    ## the suite with full repetition counts
	@DPLOC_SOAK=20 ctest --test-dir build --output-on-failure --timeout 7200

bench: all           ## speed and memory, as ratios within one run
	@bench/run.sh

results: all         ## the goal table of docs/RESULTS.md, measured anew (hours); RESULTS="--quick" and so on
	@bench/results $(RESULTS)

paper: all           ## the paper's experiments: DATA="trips.csv.xz ..." REGION=sf; PAPER="--quick" and so on
	@bench/paper $(if $(DATA),--data $(DATA)) $(if $(REGION),--region $(REGION)) $(PAPER)

fuzz: setup          ## coverage-guided fuzzing of the readers (needs clang)
	@scripts/fuzz.sh

mutants: all         ## break the privacy code on purpose; the suite must turn red
	@scripts/mutants.sh

screenshots: browser all ## the pictures in docs/images, from a report on a made-up city
	@scripts/screenshots.sh

install: all
	@cmake --install build

clean:
	@rm -rf build build-debug build-sanitize build-coverage build-fuzz out
