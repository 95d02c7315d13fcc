# What draws trips in groups includes the store of private trips.
# tests: include_graph
sed -i 's|#include "method/groups.h"|#include "method/groups.h"\n#include "base/trips.h"|' src/method/groups.c
