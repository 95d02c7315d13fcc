# Flows are cumulated by source before distance, so that lengths come out as uneven as independent draws.
# tests: bridge_test
sed -i 's#(self->places->distance_bin\[i\] \* H + h) \* K + i / K + 1#(h * K + i / K) * BINS + self->places->distance_bin[i] + 1#; s#bin = row / K / self->flows.H, hour = row / K % self->flows.H, s = row % K#hour = row / K / DPL_DISTANCE_BINS, bin = row % DPL_DISTANCE_BINS, s = row / DPL_DISTANCE_BINS % K#' src/method/bridge/generate.c
