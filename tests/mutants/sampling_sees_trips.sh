# Sampling can reach the trips it was made from.
# tests: include_graph
sed -i 's|#include "sample/decode.h"|#include "sample/decode.h"\n#include "base/trips.h"|' src/sample/sample.h
