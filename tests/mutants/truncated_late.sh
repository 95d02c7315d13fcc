# The period is the whole trip's, beyond the visits that count.
# tests: topk_test
sed -i 's/bool cut = n < /bool cut = 0 \&\& n < /' src/fit/sizes.c
