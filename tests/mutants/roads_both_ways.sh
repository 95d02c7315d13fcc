# One-way roads are used both ways.
# tests: roads_test
sed -i 's|if (one_of(&oneway, ALONG)) return ROADS_ALONG;|if (one_of(\&oneway, ALONG)) return ROADS_BOTH;|' src/roads/rules.c
