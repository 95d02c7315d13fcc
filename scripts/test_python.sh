#!/usr/bin/env bash
# The Python package against the packages themselves, in environments of their own.
#   usage: test_python.sh [test|pandas2|skmob]...      (without a name: test)
#
# An environment is made from python/requirements/NAME.txt, with versions and hashes, once: below
# build/venv, under the digest of that file. The core tests run in each of them; what else does,
# the files in python/tests say by the modules that they need.
set -euo pipefail
cd "$(dirname "$0")/.."
dploc=$PWD/build/dploc
export PYTHONPATH=$PWD/build/python OMP_WAIT_POLICY=passive PIP_DISABLE_PIP_VERSION_CHECK=1
export DPLOC_PROGRAM=$dploc JUPYTER_PLATFORM_DIRS=1 MPLBACKEND=agg

make_environment() { # NAME: prints its interpreter
    local name=$1 list=python/requirements/$1.txt digest place
    digest=$(sha256sum "$list" | cut -c1-12)
    place=$PWD/build/venv/$name-$digest
    if [ ! -e "$place/complete" ]; then
        rm -rf "build/venv/$name"-*
        /usr/bin/python3 -m venv "$place"
        "$place/bin/pip" install --quiet --require-hashes --only-binary :all: -r "$list" >&2
        if [ -f "python/requirements/$name.alone.txt" ]; then # without what it asks for
            "$place/bin/pip" install --quiet --require-hashes --no-deps \
                -r "python/requirements/$name.alone.txt" >&2
        fi
        touch "$place/complete"
    fi
    echo "$place/bin/python"
}

status=0
for name in "${@:-test}"; do
    python=$(make_environment "$name")
    for test in python/tests/*_test.py python/tests/"$name"/*_test.py; do
        [ -f "$test" ] || continue
        echo "== $name: $(basename "$test")"
        PYTHONPATH=$PYTHONPATH:$PWD/python/tests "$python" "$test" "$dploc" || status=1
    done
done
exit "$status"
