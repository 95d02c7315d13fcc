#!/usr/bin/env bash
# dploc.spark on a real cluster on this machine, the example for Dask, and the site's recipe. Sets
# up a folder with both (python/spark/requirements.txt, by hash) and runs python/spark/*_test.py.
# usage: test_spark.sh [TEST...]         of spark_test.py; DPLOC_SOAK=50: the kill test so often
#        test_spark.sh --bench TRIPS     spark_bench.py instead
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh spark
home=$PWD/out/spark
if ! cmp -s python/spark/requirements.txt "$home/requirements.txt"; then
    rm -rf "$home"
    python3 -m venv "$home"
    "$home/bin/pip" install --quiet --require-hashes -r python/spark/requirements.txt
    cp python/spark/requirements.txt "$home/requirements.txt"
fi
java=$(readlink -f "$(command -v java)")
export JAVA_HOME=${java%/bin/java} PYTHONPATH=$PWD/build/python PYSPARK_PYTHON=$home/bin/python
if [ "${1:-}" = --bench ]; then
    library=build/duckdb/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
    export DPLOC_DUCKDB=${DPLOC_DUCKDB:-$PWD/$library} # by which dploc reads Parquet
    exec "$home/bin/python" python/spark/spark_bench.py build/dploc "$2"
fi
if [ $# = 0 ]; then
    "$home/bin/python" python/spark/dask_test.py
    "$home/bin/python" python/spark/recipe_test.py
fi
exec "$home/bin/python" python/spark/spark_test.py "$@"
