# Steps are not turned.
# tests: bridge_stages_test
sed -i 's|turn_steps(&all), turn_turns(&all)|turn_turns(\&all), (void)turn_steps|' src/method/bridge/calibrate.c
