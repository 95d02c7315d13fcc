# Potentials are not turned.
# tests: bridge_stages_test
sed -i 's|^        turn_potentials(&all);|        (void)turn_potentials;|' src/method/bridge/calibrate.c
