# Sampling can reach the trips it was made from.
# tests: include_graph
sed -i 's|#include "method/decode.h"|#include "method/decode.h"\n#include "base/trips.h"|' src/method/sample.h
