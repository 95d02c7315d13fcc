#!/usr/bin/env bash
# Spark on two local executors against `dploc fit` with two threads, on the same Parquet files and
# on CSV. DPLOC_BENCH_MANY: other sizes.
set -euo pipefail
scripts/test_spark.sh --bench "${DPLOC_BENCH_MANY:-10000000}" 2>"$DPLOC_BENCH_DIR/spark.log"
