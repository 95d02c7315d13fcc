# Weights of motions are not turned.
# tests: bridge_test
sed -i 's|^        turn_all(&motion->bins, wanted, all.count, weight);|        (void)turn_all, (void)weight, (void)wanted;|' src/method/bridge/motion.c
