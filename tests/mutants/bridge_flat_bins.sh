# Bins of several lengths are spread evenly.
# tests: bridge_stages_test
sed -i 's|double part = (longer(l - 1, power).*|double part = 1 / (to - from) + 0 * power;|' src/method/bridge/lengths.c
