# Trips beyond the longest walk are one visit longer, and no more.
# tests: bridge_test
sed -i 's|return (size_t)fmin(fmax(extra, 1), .*|return (size_t)fmin(fmax(extra, 1), 1);|' src/method/bridge/generate.c
