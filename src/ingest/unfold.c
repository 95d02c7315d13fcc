/* See unfold.h. A scanner of brackets and quotes, byte by byte: what is between them is the concern
 * of the reader of Features. */
#include "ingest/unfold.h"

#include <string.h>

enum { ELEMENT = 2 }; // brackets that are open around an element: the document's and the array's

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* A text's bytes; at depth 1 it may be a member's name. */
static void take_text(struct unfold *unfold, char c) {
    if (unfold->escaped)
        unfold->escaped = false;
    else if (c == '\\')
        unfold->escaped = true;
    else if (c == '"')
        unfold->in_text = false;
    if (unfold->depth != 1 || !unfold->in_text) return;
    if (unfold->key_length < sizeof unfold->key) unfold->key[unfold->key_length] = c;
    unfold->key_length++;
}

static bool open_bracket(struct unfold *unfold, char c) {
    static const char FEATURES[] = "features";
    if (unfold->depth == 0 && c != '{') return false;
    if (unfold->depth == 1 && c == '[' && unfold->key_length == sizeof FEATURES - 1 &&
        !memcmp(unfold->key, FEATURES, sizeof FEATURES - 1) && !unfold->seen)
        unfold->in_features = unfold->seen = true;
    // PRIVACY: a Feature may be nested as it likes: it is one bad row at worst.
    if (unfold->depth < UNFOLD_DEPTH) unfold->open[unfold->depth] = c;
    unfold->depth++;
    return true;
}

static bool close_bracket(struct unfold *unfold, char c) {
    if (!unfold->depth) return false;
    unfold->depth--;
    if (unfold->depth < UNFOLD_DEPTH && unfold->open[unfold->depth] != (c == '}' ? '{' : '['))
        return false;
    if (unfold->depth < ELEMENT) unfold->in_features = false;
    unfold->over = unfold->depth == 0;
    return true;
}

/* What a byte does to where the document is. */
static bool take(struct unfold *unfold, char c) {
    if (unfold->in_text) {
        take_text(unfold, c);
        return true;
    }
    if (unfold->over) return is_blank(c);
    switch (c) {
    case '"':
        unfold->in_text = true;
        if (unfold->depth == 1) unfold->key_length = 0;
        return unfold->depth > 0;
    case '{':
    case '[': return open_bracket(unfold, c);
    case '}':
    case ']': return close_bracket(unfold, c);
    default: return unfold->depth > 0 || is_blank(c);
    }
}

bool dpl_unfold(struct unfold *unfold, const char *bytes, size_t length, char *to, size_t *made) {
    *made = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = bytes[i];
        // A bracket that opens the array, or closes it, is no part of an element.
        bool between = unfold->in_features && unfold->depth == ELEMENT && !unfold->in_text;
        bool ends = between && (c == ',' || c == ']');
        if (ends && unfold->in_element) to[(*made)++] = '\n';
        if (ends) unfold->in_element = false;
        bool inside = unfold->in_features && !ends;
        if (!take(unfold, c)) return false;
        if (!inside || (!unfold->in_element && is_blank(c))) continue;
        unfold->in_element = true;
        to[(*made)++] = is_blank(c) ? ' ' : c;
    }
    return true;
}
