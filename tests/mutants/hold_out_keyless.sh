# Who is set aside does not depend on the secret key: anybody can tell.
# tests: clean_test
sed -i 's/    memcpy(identity.key, hold_out->key, sizeof identity.key);/    memset(identity.key, 0, sizeof identity.key);/' src/clean/clean.c
