/* A GeoJSON document to lines: each element of its "features" becomes one, whatever line breaks the
 * document has.
 *
 *     {"type": "FeatureCollection",         {"type": "Feature", ...}
 *      "features": [ {"type": "Feature",    {"type": "Feature", ...}
 *        ...}, {"type": "Feature", ...} ]}
 *
 * PRIVACY: where an element ends follows from its own brackets and quotes. A document whose
 * brackets do not match is no JSON and is refused as a whole, as a damaged archive is: no trip in
 * it could be told from the next. */
#ifndef DPL_INGEST_UNFOLD_H
#define DPL_INGEST_UNFOLD_H

#include "base/base.h"

enum { UNFOLD_DEPTH = 64 };

/* Where the document is. Zero at its beginning. */
struct unfold {
    char open[UNFOLD_DEPTH]; /* (depth) brackets that are open, '{' or '[' */
    size_t depth;            /* those beyond are counted, and the reader of Features judges them */
    bool in_text, escaped;   /* within quotes; behind a backslash */
    bool in_features;        /* the array of features is open */
    bool seen;               /* it was there */
    bool in_element;
    char key[16]; /* the beginning of the text last read at depth 1, and how long it was */
    size_t key_length;
    bool over; /* the document's last bracket was closed */
};

/* Takes `length` bytes of the document and writes lines to `to`, which has room for as many; *made
 * is how many bytes were written. False when it is no JSON. */
bool dpl_unfold(struct unfold *unfold, const char *bytes, size_t length, char *to, size_t *made);

#endif
