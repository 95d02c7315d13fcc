#!/usr/bin/env bash
# dploc.spark on a real cluster on this machine. Sets up a folder with pyspark (python/spark/
# requirements.txt, by hash) and runs python/spark/spark_test.py.
# usage: test_spark.sh [TEST...]       DPLOC_SOAK=50: the kill test so often
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
exec "$home/bin/python" python/spark/spark_test.py "$@"
