# Parts of cells do not matter.
# tests: place_test
sed -i 's|if (!site->fine) return 1;|if (!site->fine \|\| per_part > 0) return 1;|' src/sample/place.c
