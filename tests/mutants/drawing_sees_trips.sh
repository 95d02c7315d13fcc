# What draws trips in groups includes the store of private trips.
# tests: include_graph
sed -i 's|#include "sample/groups.h"|#include "sample/groups.h"\n#include "base/trips.h"|' src/sample/groups.c
