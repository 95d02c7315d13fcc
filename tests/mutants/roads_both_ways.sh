# One-way roads are used both ways.
# tests: roads_test
sed -i 's|\(ALONG)) return\) ROADS_ALONG;|\1 ROADS_BOTH;|' src/roads/rules.c
