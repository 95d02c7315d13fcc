# A reservation returns before it is on the disk.
# tests: ledger_test
sed -i 's/if (fsync(fd) != 0) return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot be flushed/if (fd < 0) return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot be flushed/' src/ledger/chain.c
