/* See wkb.h: byte order, type, for a line the number of positions, then their coordinates. */
#include "ingest/wkb.h"

#include <string.h>

enum { LITTLE = 1, POINT = 1, LINE = 2, HEAD = 5 };

/* Doubles of a position, by ISO's numbers (1002 is a line with Z, 3002 with Z and M) or by the
 * flags of older writers; 0: not one of them. */
static size_t dimensions(uint32_t *type) {
    static const uint32_t Z = 0x80000000, M = 0x40000000, THOUSAND = 1000;
    size_t more = (size_t)((*type & Z) != 0) + (size_t)((*type & M) != 0);
    *type &= ~(Z | M);
    if (*type >= 4 * THOUSAND) return 0; // also what carries a number of its reference system
    if (*type >= THOUSAND) more = *type / THOUSAND == 3 ? 2 : 1;
    *type %= THOUSAND;
    return 2 + more;
}

bool dpl_wkb_read(const char *bytes, size_t length, struct wkb *made) {
    uint32_t type, n = 1;
    if (length < HEAD + sizeof n || bytes[0] != LITTLE) return false;
    memcpy(&type, bytes + 1, sizeof type);
    size_t doubles = dimensions(&type), at = HEAD;
    if (!doubles || (type != POINT && type != LINE)) return false;
    if (type == LINE) {
        memcpy(&n, bytes + HEAD, sizeof n);
        at += sizeof n;
    }
    *made = (struct wkb){
        .line = type == LINE, .n = n, .step = doubles * sizeof(double), .bytes = bytes + at};
    return (length - at) / made->step >= n;
}

void dpl_wkb_position(const struct wkb *wkb, uint32_t i, double xy[2]) {
    memcpy(xy, wkb->bytes + i * wkb->step, 2 * sizeof *xy);
}
