# Routes can look at real trips.
# tests: include_graph
sed -i 's|#include "roads/route.h"|&\n#include "base/trips.h"|' src/roads/route.c
