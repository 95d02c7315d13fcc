# Steps may go beyond the limit.
# tests: place_test
sed -i 's|if (in.length_m > site->most_before) return 0;||; s|if (out.length_m > site->most_after) return 0;||' src/sample/place.c
