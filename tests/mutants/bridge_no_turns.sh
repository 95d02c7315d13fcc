# Turns are not turned.
# tests: bridge_stages_test
sed -i 's|turn_steps(&all), turn_turns(&all)|turn_steps(\&all), (void)turn_turns|' src/method/bridge/calibrate.c
