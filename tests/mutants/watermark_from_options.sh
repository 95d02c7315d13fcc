# The watermark follows from the budget, not from the key.
# tests: certificate_test
sed -i 's/return certificate->insecure || dpl_plan_budget(certificate->plan)->insecure_seed;/return dpl_plan_budget(certificate->plan)->insecure_seed;/' src/ledger/certificate.c
