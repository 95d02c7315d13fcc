# An hour that noise has swallowed has no trips.
# tests: bridge_stages_test
sed -i 's|if (!(sigma > 0) .. t > 8) return noisy;|if (sigma >= 0 \|\| t > 8) return noisy;|' src/method/bridge/flows.c
