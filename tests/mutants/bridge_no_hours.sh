# Every hour has as many trips as any other.
# tests: bridge_stages_test
sed -i 's|fmax(count_behind_noise(noisy, sigma), 1)|fmin(count_behind_noise(noisy, sigma), 1)|' src/method/bridge/flows.c
