# The walk over paths without the correction for unequal degrees.
# tests: trace_test
sed -i 's|double hastings = (double)ways / (double)degree(neighbours, y);|double hastings = ways > 0 ? 1.0 : 0.0;|' src/method/paper/trace.c
