# Routes may enter parts of the map that they cannot leave.
# tests: roads_test
sed -i 's|!r->component\[.*node\[0\]\] \&\& !r->component\[.*\];|true;|' src/roads/connect.c
