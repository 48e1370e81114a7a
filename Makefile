# The front door: two commands, `make demo` and `make test`, each installing what is missing. All else is CMake
# (CMakePresets.json).

JOBS ?= $(shell nproc)

.PHONY: all setup demo test clean
all: build/build.ninja
	cmake --build build -j $(JOBS)

# A stamp, so that a second run asks nothing: it is as new as the list of packages.
build/.setup: tools/setup tools/packages tools/npm/package-lock.json tools/grammar/package-lock.json
	tools/setup
	mkdir -p build && touch build/.setup

setup: build/.setup

build/build.ninja: build/.setup CMakePresets.json
	cmake --preset release

demo: all
	tools/demo

test: all
	tools/test

clean:
	rm -rf build
