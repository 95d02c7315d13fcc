/* One unit's bytes never change how another's are read: random neighbours for every format, every
 * alignment of long lines, and the cases that were once found to break it. */
#include "neighbours.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 80, UNITS_A_SET = 8, SMALL_LINE = 384, DAY_S = 1741003200 };

static uint64_t below(uint64_t *random, uint64_t n) { return test_random(random) % n; }
static bool chance(uint64_t *random, uint64_t one_in) { return below(random, one_in) == 0; }

/* ---- units ---- */

/* A unit's good rows: a walk of a few minutes, so that cleaning keeps it. */
static void add_walk_at(enum shape shape, struct bytes *into, const char *trip, const char *user,
                        int64_t utc_s, uint64_t *random) {
    double lat = 48.05 + 0.1 * test_uniform(random), lon = 11.05 + 0.2 * test_uniform(random);
    for (int rows = 2 + (int)below(random, 5), i = 0; i < rows; i++)
        shape_row(shape, into, trip, user, utc_s + 70 * i, lat + 1e-3 * i, lon + 1e-3 * i);
    if (shape == SHAPE_CAB) bytes_print(into, "%.5f %.5f 0 %lld\n", lat, lon, utc_s + 1000LL);
}

static void add_walk(enum shape shape, struct bytes *into, const char *trip, const char *user,
                     uint64_t *random) {
    add_walk_at(shape, into, trip, user, DAY_S + (int64_t)below(random, 50000), random);
}

enum unit_kind {
    UNIT_GOOD,
    UNIT_MALFORMED,
    UNIT_OTHER_TIMES,
    UNIT_OTHER_SEPARATORS,
    UNIT_QUOTES,
    UNIT_NUL,
    UNIT_LONG,
    UNIT_NO_USER,
    UNIT_FOREIGN_USER,
    UNIT_RANDOM,
    UNIT_HEADER,
    UNIT_MARKS,
    UNIT_KINDS
};

static void replace_bytes(struct bytes *bytes, const char *of, char by) {
    for (size_t i = 0; i < bytes->length; i++)
        if (bytes->text[i] && strchr(of, bytes->text[i])) bytes->text[i] = by;
}

/* Overwrites some bytes, never a line end. */
static void damage(struct bytes *bytes, uint64_t *random, const char *with, size_t n_with) {
    for (uint64_t n = 1 + below(random, 6); n > 0 && bytes->length; n--) {
        char *at = &bytes->text[below(random, bytes->length)];
        if (*at != '\n') *at = with[below(random, n_with)];
    }
}

/* A stamp that a row of the shape does not usually have. */
static void add_other_time(enum shape shape, struct bytes *into, uint64_t *random) {
    static const char *const STAMPS[] = {
        "1741003200123",        "1741003200123456", "1741003200123456789", "2025-03-03 12:00:00",
        "2025-03-03T12:00:00Z", "1741003200.5",     "2025/03/03 12:00",    "17410032001234567890"};
    const char *stamp = STAMPS[below(random, sizeof STAMPS / sizeof *STAMPS)];
    for (int i = 0; i < 3; i++) {
        if (shape == SHAPE_SEMICOLON)
            bytes_print(into, "11.1%d;48.1;;zzu;zzt;%s\n", i, stamp);
        else if (shape == SHAPE_TAB)
            bytes_print(into, "zzu\tzzt\t%s\t\t11.1%d\t48.1\n", stamp, i);
        else if (shape == SHAPE_TRACKS)
            bytes_print(into, "zzu,%s,48.1,11.1%d\n", stamp, i);
        else if (shape == SHAPE_CAB)
            bytes_print(into, "48.1 11.1%d 1 %s\n", i, stamp);
        else if (shape == SHAPE_SPLIT) // a time without its date
            bytes_print(into, "zzt;zzu;%s;12:0%d:00;POINT(11.1%d 48.1)\n",
                        chance(random, 2) ? "" : "2025-03-03", i, i);
        else if (shape == SHAPE_BLANKS)
            bytes_print(into, "zzt zzu %s 48.1 11.1%d\n", stamp, i);
        else
            bytes_print(into, "zzt,zzu,%s,48.1,11.1%d\n", stamp, i);
    }
}

/* What ends a line of the shape. */
static const char *line_ends(enum shape shape) { return shape == SHAPE_SPLIT ? "\r\n" : "\n"; }

static char separator_of(enum shape shape) {
    return shape == SHAPE_SEMICOLON || shape == SHAPE_SPLIT ? ';'
           : shape == SHAPE_TAB                             ? '\t'
           : shape == SHAPE_BLANKS                          ? ' '
                                                            : ',';
}

/* Quotes around fields, open ones, and a quoted id that looks like the beginning of a known row. */
static void add_quotes(enum shape shape, struct bytes *into, const char *known, uint64_t *random) {
    char separator = separator_of(shape);
    const char *first = strchr(known, separator), *end = strpbrk(known, line_ends(shape));
    if (first && end && first < end && chance(random, 2)) {
        const char *stop = memchr(first + 1, separator, (size_t)(end - first - 1));
        size_t length = (size_t)((stop ? stop : end) - known), rest = (size_t)(end - known);
        bytes_print(into, "\"%.*s\"%c", (int)(length < 200 ? length : 200), known, separator);
        bytes_print(into, "zzu%c%.*s\n", separator, (int)(rest < 200 ? rest : 200), known);
        bytes_print(into, "\"%.*s\"%czzu%c1741003200%c48.1%c11.1\n",
                    (int)(length < 200 ? length : 200), known, separator, separator, separator,
                    separator);
        return;
    }
    struct bytes walk = {0};
    add_walk(shape, &walk, chance(random, 2) ? "\"zz,t\"" : "zz\"t", "\"zz;u\"", random);
    if (chance(random, 2)) damage(&walk, random, "\"", 1);
    bytes_add(into, walk.text, walk.length);
    free(walk.text);
}

/* 0.9 to 3 times what a line may be, of bytes that mean something. */
static void add_long_line(enum shape shape, struct bytes *into, const char *id, size_t line_bytes,
                          uint64_t *random) {
    static const char FILL[] = "7 ,;x\"\t[";
    size_t length = line_bytes * 9 / 10 + below(random, line_bytes * 21 / 10);
    if (chance(random, 3)) length = line_bytes * (1 + below(random, 3)) + below(random, 5) - 3;
    char fill = FILL[below(random, sizeof FILL - 1)];
    struct bytes row = {0};
    if (chance(random, 2)) shape_row(shape, &row, id, id, DAY_S, 48.1, 11.1);
    if (row.length) row.length--; // its line end
    while (row.length + 1 < length) bytes_add(&row, &fill, 1);
    bytes_add(&row, "\n", 1);
    bytes_add(into, row.text, row.length);
    free(row.text);
}

static void add_marks(enum shape shape, struct bytes *into, uint64_t *random) {
    static const char *const MARKS[] = {"\xEF\xBB\xBF", "\r",           "\n\r\n",
                                        "PK\3\4",       "\x1f\x8b\x08", "BZh91AY",
                                        "\x1e",         "   \n",        "\x28\xb5\x2f\xfd"};
    struct bytes walk = {0};
    bytes_print(into, "%s", MARKS[below(random, sizeof MARKS / sizeof *MARKS)]);
    if (chance(random, 4)) bytes_print(into, "%257s\n", "ustar");
    add_walk(shape, &walk, "zzt", "zzu", random);
    bytes_add(into, walk.text, walk.length);
    if (chance(random, 2)) damage(into, random, "\r", 1);
    free(walk.text);
}

static void add_random(struct bytes *into, uint64_t *random) {
    for (uint64_t n = 1 + below(random, 400); n > 0; n--) {
        char c = (char)test_random(random);
        bytes_add(into, &c, 1);
    }
    bytes_add(into, "\n", 1);
}

/* A unit's bytes, whole lines. `known` is the beginning of a row that is there already. */
static void add_unit(enum shape shape, enum unit_kind kind, struct bytes *into, const char *known,
                     size_t line_bytes, uint64_t *random) {
    // A track without trips is its user's: a foreign user's rows would be that user's own.
    const char *foreign = shape == SHAPE_TRACKS ? "zzu" : "u1";
    switch (kind) {
    case UNIT_GOOD: add_walk(shape, into, "zzt", "zzu", random); break;
    case UNIT_MALFORMED:
        add_walk(shape, into, "zzt", "zzu", random);
        damage(into, random, "x-.e,;9 ", 8);
        break;
    case UNIT_OTHER_TIMES: add_other_time(shape, into, random); break;
    case UNIT_OTHER_SEPARATORS:
        add_walk(shape, into, "zzt", "zzu", random);
        replace_bytes(into, ",; \t", ";,|\t "[below(random, 5)]);
        break;
    case UNIT_QUOTES: add_quotes(shape, into, known, random); break;
    case UNIT_NUL:
        add_walk(shape, into, "zzt", "zzu", random);
        damage(into, random, "\0", 1);
        break;
    case UNIT_LONG:
        add_walk(shape, into, "zzt", "zzu", random);
        add_long_line(shape, into, "zzl", line_bytes, random);
        break;
    case UNIT_NO_USER: add_walk(shape, into, "zzt", "", random); break;
    case UNIT_FOREIGN_USER: add_walk(shape, into, "zzt", foreign, random); break;
    case UNIT_RANDOM: add_random(into, random); break;
    case UNIT_HEADER: bytes_print(into, "%sx\n", shape_header(shape)); break;
    case UNIT_MARKS: add_marks(shape, into, random); break;
    case UNIT_KINDS: break;
    }
    if (into->length && into->text[into->length - 1] != '\n') bytes_add(into, "\n", 1);
}

/* ---- sets ---- */

static void member_name(enum shape shape, int number, char name[MEMBER_NAME]) {
    snprintf(name, MEMBER_NAME,
             shape == SHAPE_CAB ? "cabs/new_d%d.txt" : "Data/%03d/Trajectory/a.plt", number);
}

static void start_member(struct set *set, const char *name, const char *header) {
    struct member *member = &set->member[set->n++];
    *member = (struct member){0};
    snprintf(member->name, sizeof member->name, "%s", name);
    bytes_print(&member->bytes, "%s", header);
}

/* Rows of two trips in turn: what then stands in front of a row is another trip's. */
static void add_braid(enum shape shape, struct bytes *into, uint64_t *random) {
    for (int i = 0; i < 8; i++)
        shape_row(shape, into, i % 2 ? "braid1" : "braid2", i % 2 ? "u8" : "u9", DAY_S + 30 * i,
                  48.1 + 1e-3 * i, 11.1 + 1e-3 * (double)below(random, 3));
}

static void make_table(struct set *set, size_t line_bytes, uint64_t *random) {
    char name[32], user[32];
    start_member(set, "", shape_header(set->shape));
    struct bytes *bytes = &set->member[0].bytes;
    for (int n = 2 + (int)below(random, 8), i = 0; i < n; i++) {
        snprintf(name, sizeof name, "d%d", i);
        snprintf(user, sizeof user, "u%d", set->shape == SHAPE_TRACKS ? i : i % 3);
        add_walk(set->shape, bytes, name, user, random);
    }
    if (chance(random, 4)) add_braid(set->shape, bytes, random);
    if (chance(random, 4)) add_long_line(set->shape, bytes, "long", line_bytes, random);
    if (chance(random, 8)) bytes_print(bytes, "d0,u0,17");
}

static void make_files(struct set *set, uint64_t *random) {
    for (int n = 2 + (int)below(random, 5), i = 0; i < n; i++) {
        char name[MEMBER_NAME];
        member_name(set->shape, i, name);
        start_member(set, name, shape_header(set->shape));
        // GeoLife's tracks are not cut at gaps: one of them stays without, so that a trip is kept.
        for (int walks = i ? 1 + (int)below(random, 3) : 1; walks > 0; walks--)
            add_walk_at(set->shape, &set->member[i].bytes, "", "", DAY_S + 9000 * walks, random);
    }
}

static void copy_set(const struct set *from, struct set *to) {
    *to = (struct set){.shape = from->shape};
    for (size_t i = 0; i < from->n; i++) {
        start_member(to, from->member[i].name, "");
        bytes_add(&to->member[i].bytes, from->member[i].bytes.text, from->member[i].bytes.length);
    }
}

/* ---- putting a unit in ---- */

static void insert(struct bytes *bytes, size_t at, const char *text, size_t length) {
    struct bytes made = {0};
    bytes_add(&made, bytes->text, at);
    bytes_add(&made, text, length);
    bytes_add(&made, bytes->text + at, bytes->length - at);
    free(bytes->text);
    *bytes = made;
}

static bool ends_line(char c, const char *ends) { return c && strchr(ends, c); }

/* Where the line that begins at `at` is over. */
static size_t behind_line(const struct bytes *bytes, size_t at, const char *ends) {
    while (!ends_line(bytes->text[at], ends)) at++;
    return at + 1;
}

/* Behind the last line that is whole. */
static size_t behind_last(const struct bytes *bytes, size_t header, const char *ends) {
    size_t at = bytes->length;
    while (at > header && !ends_line(bytes->text[at - 1], ends)) at--;
    return at;
}

/* The n-th place between two lines behind the header, counted round. */
static size_t place_between(const struct bytes *bytes, size_t header, const char *ends,
                            uint64_t n) {
    size_t places = 1, at = header;
    for (size_t i = header; i < bytes->length; i++) places += ends_line(bytes->text[i], ends);
    for (n %= places; n > 0; n--) at = behind_line(bytes, at, ends);
    return at;
}

enum position { HEAD, MIDDLE, TAIL, SCATTERED, POSITIONS };

static void put_rows(struct bytes *bytes, size_t header, const struct bytes *unit,
                     enum position position, const char *ends, uint64_t *random) {
    size_t at = header;
    if (position == TAIL) at = behind_last(bytes, header, ends);
    if (position == MIDDLE) at = place_between(bytes, header, ends, test_random(random));
    if (position != SCATTERED) {
        insert(bytes, at, unit->text, unit->length);
        return;
    }
    for (size_t from = 0; from < unit->length;) { // in their own order, at places that go on
        size_t stop = behind_line(unit, from, ends);
        size_t place = place_between(bytes, at, ends, test_random(random) % 6);
        insert(bytes, place, unit->text + from, stop - from);
        at = place + stop - from;
        from = stop;
    }
}

static void put_file(struct set *set, const char *name, const struct bytes *unit,
                     enum position position, uint64_t *random) {
    size_t at = position == HEAD ? 0 : position == TAIL ? set->n : below(random, set->n + 1);
    memmove(set->member + at + 1, set->member + at, (set->n - at) * sizeof *set->member);
    struct member *member = &set->member[at];
    *member = (struct member){0};
    snprintf(member->name, sizeof member->name, "%s", name);
    bytes_add(&member->bytes, unit->text, unit->length);
    set->n++;
}

/* ---- one neighbour ---- */

struct pair {
    struct set one, both, other;
};

static void pair_free(struct pair *pair) {
    set_free(&pair->one), set_free(&pair->both), set_free(&pair->other);
}

/* Rows of x in a table, or in one person's file. */
static void pair_rows(struct pair *pair, size_t member, const struct bytes *unit,
                      enum position position, uint64_t *random) {
    const char *header = shape_header(pair->one.shape);
    copy_set(&pair->one, &pair->both);
    put_rows(&pair->both.member[member].bytes, strlen(header), unit, position,
             line_ends(pair->one.shape), random);
    pair->other = (struct set){.shape = pair->one.shape};
    start_member(&pair->other, pair->one.member[member].name, header);
    bytes_add(&pair->other.member[0].bytes, unit->text, unit->length);
}

static void pair_file(struct pair *pair, const char *name, const struct bytes *unit,
                      enum position position, uint64_t *random) {
    copy_set(&pair->one, &pair->both);
    put_file(&pair->both, name, unit, position, random);
    pair->other = (struct set){.shape = pair->one.shape};
    put_file(&pair->other, name, unit, HEAD, random);
}

static const char *judge(const struct trial *trial, const struct pair *pair,
                         const struct outcome *one) {
    struct outcome other = trial_read(trial, &pair->other), both = trial_read(trial, &pair->both);
    const char *wrong = outcome_compare(one, &other, &both);
    outcome_free(&other), outcome_free(&both);
    return wrong;
}

static void assert_neighbours(const struct trial *trial, struct pair *pair) {
    struct outcome one = trial_read(trial, &pair->one);
    const char *wrong = judge(trial, pair, &one);
    if (one.status != DPL_OK) fail_msg("without the unit: %s", one.message);
    if (*wrong) fail_msg("%s", wrong);
    outcome_free(&one);
    pair_free(pair);
}

/* A person's file: own name or an odd one, own header or a broken one. */
static void random_file(struct pair *pair, struct bytes *unit, enum position position,
                        uint64_t *random) {
    static const char *const ODD[] = {"zz",          "new_zz",     "NEW_zz.txt",
                                      "zz.csv",      "zz.plt",     ".zz.plt",
                                      "zz.geojsonl", "a:b/zz.txt", "new_zz.txt.gz"};
    enum shape shape = pair->one.shape;
    const char *name = shape == SHAPE_CAB ? "cabs/new_zz.txt" : "Data/999/Trajectory/zz.plt";
    const char *header = shape_header(shape);
    struct bytes whole = {0};
    if (chance(random, 4)) name = ODD[below(random, sizeof ODD / sizeof *ODD)];
    if (!chance(random, 4)) bytes_print(&whole, "%s", header);
    bytes_add(&whole, unit->text, unit->length);
    if (chance(random, 8) && whole.length) whole.length--; // cut off
    pair_file(pair, name, &whole, position, random);
    free(whole.text);
}

/* What x may be in a person's file that is there: rows that are none. */
static void random_bad_rows(struct pair *pair, enum position position, uint64_t *random) {
    struct bytes bad = {0};
    bytes_print(&bad, chance(random, 2) ? "rubbish\n" : "48.1 11.1 x 1741003200\n,,,\n");
    if (chance(random, 2)) bytes_add(&bad, "\0 \"\n", 4);
    pair_rows(pair, below(random, pair->one.n), &bad, position, random);
    free(bad.text);
}

static void random_pair(struct pair *pair, const struct trial *trial, uint64_t *random) {
    enum shape shape = pair->one.shape;
    enum position position = (enum position)below(random, POSITIONS);
    struct bytes unit = {0};
    const struct bytes *first = &pair->one.member[0].bytes;
    const char *known = first->text + strlen(shape_header(shape));
    for (uint64_t n = 1 + below(random, 3); n > 0; n--) {
        struct bytes part = {0};
        add_unit(shape, (enum unit_kind)below(random, UNIT_KINDS), &part, known,
                 trial->limits.line_bytes, random);
        // What was damaged may have lost its last CR.
        if (!ends_line(part.text[part.length - 1], line_ends(shape))) bytes_add(&part, "\n", 1);
        bytes_add(&unit, part.text, part.length);
        free(part.text);
    }
    bool whole = first->length && first->text[first->length - 1] == '\n';
    if (shape_has_files(shape)) {
        if (chance(random, 4))
            random_bad_rows(pair, position, random);
        else
            random_file(pair, &unit, position, random);
    } else {
        if (position == TAIL && whole && chance(random, 4)) unit.length--; // cut off
        pair_rows(pair, 0, &unit, position, random);
    }
    free(unit.text);
}

static struct trial small_trial(const char *directory, uint64_t *random) {
    return (struct trial){
        .directory = directory,
        .limits = {.line_bytes = SMALL_LINE + below(random, 200), .member_bytes = 6000},
        .threads = 1 + (int)below(random, 2),
        .identify = true};
}

/* One set of the seed, and some neighbours of it. */
static void try_seed(enum shape shape, uint64_t seed, const char *directory) {
    uint64_t random = seed;
    struct trial trial = small_trial(directory, &random);
    struct pair pair = {.one = {.shape = shape}};
    if (shape_has_files(shape))
        make_files(&pair.one, &random);
    else
        make_table(&pair.one, trial.limits.line_bytes, &random);
    struct outcome one = trial_read(&trial, &pair.one);
    if (one.status != DPL_OK || !one.n_trips)
        fail_msg("%s, seed %llu: %s", SHAPE_NAMES[shape], (unsigned long long)seed, one.message);
    for (int i = 0; i < UNITS_A_SET; i++) {
        random_pair(&pair, &trial, &random);
        const char *wrong = judge(&trial, &pair, &one);
        if (*wrong)
            fail_msg("%s, seed %llu, unit %d: %s", SHAPE_NAMES[shape], (unsigned long long)seed, i,
                     wrong);
        set_free(&pair.both), set_free(&pair.other);
    }
    outcome_free(&one);
    set_free(&pair.one);
}

static void random_neighbours_of_every_format(void **state) {
    (void)state;
    char *directory = test_directory();
    size_t rounds = test_soak(ROUNDS);
    for (enum shape shape = 0; shape < SHAPES; shape++) {
        for (uint64_t seed = 1; seed <= rounds; seed++)
            try_seed(shape, seed * 1000 + shape, directory);
        print_message("%s: seeds %d to %llu in steps of 1000, %d units each\n", SHAPE_NAMES[shape],
                      1000 + (int)shape, (unsigned long long)(rounds * 1000 + shape), UNITS_A_SET);
    }
    test_directory_remove(directory);
}

/* Every length from 0.9 to 3 blocks, so that the line behind it begins at every place in a block.
 */
static void long_lines_at_every_alignment(void **state) {
    (void)state;
    enum { LINE = 256 };
    char *directory = test_directory();
    struct trial trial = {
        .directory = directory, .limits = {.line_bytes = LINE, .member_bytes = 4096}, .threads = 1};
    for (enum shape shape = 0; shape <= SHAPE_COLUMNS; shape += SHAPE_COLUMNS) {
        uint64_t random = 3;
        struct pair pair = {.one = {.shape = shape}};
        start_member(&pair.one, "", shape_header(shape));
        for (int i = 0; i < 6; i++) {
            char name[8];
            snprintf(name, sizeof name, "d%d", i);
            add_walk(shape, &pair.one.member[0].bytes, name, "u", &random);
        }
        struct outcome one = trial_read(&trial, &pair.one);
        for (size_t length = LINE * 9 / 10; length <= 3 * LINE; length++) {
            struct bytes line = {0};
            while (line.length + 1 < length) bytes_add(&line, "7", 1);
            bytes_add(&line, "\n", 1);
            pair_rows(&pair, 0, &line, (enum position)(length % 3), &random);
            const char *wrong = judge(&trial, &pair, &one);
            if (*wrong) fail_msg("a line of %zu bytes: %s", length, wrong);
            set_free(&pair.both), set_free(&pair.other);
            free(line.text);
        }
        outcome_free(&one);
        set_free(&pair.one);
    }
    test_directory_remove(directory);
}

/* A good row that just fits, as a file's first and behind another's: blocks are filled up behind
 * the header, too. */
static void a_long_first_row_does_not_depend_on_its_place(void **state) {
    (void)state;
    enum { LINE = 256 };
    char *directory = test_directory();
    struct trial trial = {
        .directory = directory, .limits = {.line_bytes = LINE, .member_bytes = 4096}, .threads = 1};
    for (size_t length = LINE - 60; length <= LINE + 2; length++) {
        uint64_t random = length;
        struct pair pair = {.one = {.shape = SHAPE_CSV}};
        struct bytes unit = {0};
        start_member(&pair.one, "", shape_header(SHAPE_CSV));
        struct bytes *bytes = &pair.one.member[0].bytes;
        size_t header = bytes->length;
        bytes_print(bytes, "d,u,%d,48.1,11.1,", DAY_S);
        while (bytes->length + 1 < header + length) bytes_add(bytes, "7", 1);
        bytes_add(bytes, "\n", 1);
        add_walk(SHAPE_CSV, bytes, "d1", "u", &random);
        add_walk(SHAPE_CSV, &unit, "zzt", "zzu", &random);
        pair_rows(&pair, 0, &unit, HEAD, &random);
        struct outcome one = trial_read(&trial, &pair.one);
        assert_int_equal(one.rejected[DPL_REJECT_LINE_TOO_LONG], length > LINE);
        outcome_free(&one);
        free(unit.text);
        assert_neighbours(&trial, &pair);
    }
    test_directory_remove(directory);
}

/* ---- cases that were found ---- */

static struct trial full_trial(const char *directory) {
    return (struct trial){
        .directory = directory, .limits = DPL_INGEST_LIMITS, .threads = 2, .identify = true};
}

/* Trips of a plain table, and one unit's rows in front of them. */
static void assert_rows_first(enum shape shape, const char *time_unit, const char *rows,
                              size_t length) {
    char *directory = test_directory();
    struct trial trial = full_trial(directory);
    struct pair pair = {.one = {.shape = shape}};
    uint64_t random = 5;
    trial.time_unit = time_unit;
    start_member(&pair.one, "", shape_header(shape));
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        add_walk(shape, &pair.one.member[0].bytes, name, "u", &random);
    }
    struct bytes unit = {0};
    bytes_add(&unit, rows, length);
    pair_rows(&pair, 0, &unit, HEAD, &random);
    free(unit.text);
    assert_neighbours(&trial, &pair);
    test_directory_remove(directory);
}

#define ROWS(text) text, sizeof(text) - 1

static void milliseconds_first_change_no_other_row(void **state) {
    (void)state;
    assert_rows_first(SHAPE_CSV, NULL,
                      ROWS("z,z,1741003200000,48.1,11.1\nz,z,1741003260000,48.1,11.101\n"));
}

static void iso_first_changes_no_other_row(void **state) {
    (void)state;
    assert_rows_first(SHAPE_CSV, "s",
                      ROWS("z,z,2025-03-03 12:00:00,48.1,11.1\nz,z,2025-03-03 12:01:00,48.1,11\n"));
    assert_rows_first(SHAPE_COLUMNS, "s",
                      ROWS("z,z,2025-03-03 12:00:00,48.1,11.1\nz,z,2025-03-03 12:01:00,48.1,11\n"));
}

static void another_separator_first_changes_no_other_row(void **state) {
    (void)state;
    assert_rows_first(SHAPE_COLUMNS, NULL, ROWS("z;z;;;;;;;1741003200;48.1,11.1\n"));
    assert_rows_first(SHAPE_COLUMNS, NULL, ROWS("z\n"));
}

static void rubbish_first_does_not_change_the_format(void **state) {
    (void)state;
    assert_rows_first(SHAPE_GEOJSONL, NULL, ROWS("rubbish, not json\n"));
    assert_rows_first(SHAPE_COLUMNS, NULL, ROWS("tid,uid,TIMESTAMP,POLYLINE\n"));
    assert_rows_first(SHAPE_COLUMNS, NULL,
                      ROWS("48.1 11.1 1 1741003200\n48.1 11.1 1 1741003260\n"));
}

/* Every line is a row: its bytes are no archive's. */
static void an_archives_mark_first_is_a_bad_row(void **state) {
    (void)state;
    char tar[600];
    assert_rows_first(SHAPE_COLUMNS, NULL, ROWS("\x1f\x8b\x08,z,1741003200,48.1,11.1\n"));
    assert_rows_first(SHAPE_COLUMNS, NULL, ROWS("PK\3\4\n"));
    snprintf(tar, sizeof tar, "%262s\n", "ustar");
    assert_rows_first(SHAPE_COLUMNS, NULL, tar, strlen(tar));
    assert_rows_first(SHAPE_CSV, NULL, tar + 25, strlen(tar + 25)); // 257 behind the header
}

/* The reader knew the id of the row before again without looking for the separator: blanks behind
 * an id stayed where the row before had them in quotes, and a quoted separator was not seen. */
static void a_quoted_id_changes_no_other_row(void **state) {
    (void)state;
    char *directory = test_directory();
    struct trial trial = full_trial(directory);
    static const char *const UNITS[] = {"\"d \",z,1741003200,48.1,11.1\n",
                                        "\"d ,u\",z,1741003200,48.1,11.1\n"};
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        struct pair pair = {.one = {.shape = SHAPE_CSV}};
        struct bytes unit = {0};
        uint64_t random = 5;
        start_member(&pair.one, "", shape_header(SHAPE_CSV));
        bytes_print(&pair.one.member[0].bytes, "d ,u,1741003200,48.1,11.1\n"
                                               "d,u,1741003270,48.1,11.1\n"
                                               "d ,u,x,1741003200,48.1,11.1\n");
        bytes_print(&unit, "%s", UNITS[i]);
        pair_rows(&pair, 0, &unit, HEAD, &random);
        free(unit.text);
        assert_neighbours(&trial, &pair);
    }
    test_directory_remove(directory);
}

static void a_byte_order_mark_belongs_to_its_line(void **state) {
    (void)state;
    char *directory = test_directory();
    struct trial trial = full_trial(directory);
    struct pair pair = {.one = {.shape = SHAPE_COLUMNS}};
    struct bytes unit = {0};
    uint64_t random = 5;
    start_member(&pair.one, "", "\xEF\xBB\xBF");
    add_walk(SHAPE_COLUMNS, &pair.one.member[0].bytes, "d", "u", &random);
    add_walk(SHAPE_COLUMNS, &unit, "z", "z", &random);
    pair_rows(&pair, 0, &unit, HEAD, &random);
    free(unit.text);
    assert_neighbours(&trial, &pair);
    test_directory_remove(directory);
}

/* One line over 1 MB, and trips of others behind it, at the true limit. */
static void a_line_over_a_megabyte_takes_no_other_with_it(void **state) {
    (void)state;
    static const size_t LENGTHS[] = {(1 << 20) - 40, 1 << 20, (1 << 20) + 1, (3 << 20) - 100};
    for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
        char *text = malloc(LENGTHS[i]);
        assert_non_null(text);
        memset(text, 'z', LENGTHS[i]);
        text[LENGTHS[i] - 1] = '\n';
        assert_rows_first(SHAPE_CSV, NULL, text, LENGTHS[i]);
        assert_rows_first(SHAPE_COLUMNS, NULL, text, LENGTHS[i]);
        free(text);
    }
}

/* A cab's file with a bad first line, and files that are not what they are called. */
static void one_persons_file_changes_no_other(void **state) {
    (void)state;
    static const struct {
        enum shape shape;
        const char *name, *text;
    } CASES[] = {
        {SHAPE_CAB, "cabs/new_zz.txt", "rubbish\n48.1 11.1 1 1741003200\n"},
        {SHAPE_CAB, "cabs/zz.txt", "48.1 11.1 1 1741003200\n48.1 11.1 1 1741003260\n"},
        {SHAPE_CAB, "zz.csv", "tid,lat,lon,time\nz,48.1,11.1,1741003200\n"},
        {SHAPE_CAB, "zz.csv", "id,lat,lon,time\nz,48.1,11.1,1741003200\n"},
        {SHAPE_CAB, "zz.csv", "tid,lat,lon,time,timestamp\n"},
        {SHAPE_CAB, "zz.csv", "\"tid,lat\n"},
        {SHAPE_CAB, "new_zz.txt", ""},
        {SHAPE_GEOLIFE, "Data/999/Trajectory/zz.plt", "no header\n"},
        {SHAPE_GEOLIFE, "Data/999/Trajectory/zz.plt", "Geolife trajectory\n"},
        {SHAPE_GEOLIFE, "zz.plt", "48.1,11.1,0,492,39744.1,2025-03-03,12:00:00\n"},
        {SHAPE_GEOLIFE, "zz.plt", "PK\3\4"},
    };
    char *directory = test_directory();
    struct trial trial = full_trial(directory);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (enum position position = HEAD; position <= TAIL; position++) {
            uint64_t random = 8 + i;
            struct pair pair = {.one = {.shape = CASES[i].shape}};
            struct bytes unit = {0};
            bytes_print(&unit, "%s", CASES[i].text);
            make_files(&pair.one, &random);
            pair_file(&pair, CASES[i].name, &unit, position, &random);
            free(unit.text);
            assert_neighbours(&trial, &pair);
        }
    test_directory_remove(directory);
}

static void a_bad_first_line_costs_a_cab_no_trip(void **state) {
    (void)state;
    char *directory = test_directory();
    struct trial trial = full_trial(directory);
    struct pair pair = {.one = {.shape = SHAPE_CAB}};
    struct bytes unit = {0};
    uint64_t random = 4;
    bytes_print(&unit, "rubbish\n");
    make_files(&pair.one, &random);
    pair_rows(&pair, 0, &unit, HEAD, &random);
    free(unit.text);
    assert_neighbours(&trial, &pair);
    test_directory_remove(directory);
}

static void a_file_over_the_limit_is_dropped_alone(void **state) {
    (void)state;
    char *directory = test_directory();
    struct trial trial = {
        .directory = directory, .limits = {.line_bytes = 512, .member_bytes = 4096}, .threads = 1};
    for (enum shape shape = SHAPE_CAB; shape <= SHAPE_GEOLIFE; shape++) {
        struct pair pair = {.one = {.shape = shape}};
        struct bytes unit = {0};
        uint64_t random = 2;
        bytes_print(&unit, "%s", shape_header(shape));
        while (unit.length < 5000) add_walk(shape, &unit, "", "", &random);
        make_files(&pair.one, &random);
        pair_file(&pair, shape == SHAPE_CAB ? "new_zz.txt" : "zz.plt", &unit, HEAD, &random);
        struct outcome both = trial_read(&trial, &pair.both);
        assert_int_equal(both.files_skipped, 1);
        outcome_free(&both);
        free(unit.text);
        assert_neighbours(&trial, &pair);
    }
    test_directory_remove(directory);
}

/* A longitude that was cut to -12 is a number all the same. */
static void a_last_line_without_its_end_is_a_bad_row(void **state) {
    (void)state;
    char *directory = test_directory();
    struct trial trial = full_trial(directory);
    for (enum shape shape = 0; shape < SHAPES; shape++) {
        struct set set = {.shape = shape};
        uint64_t random = 6;
        start_member(&set, shape == SHAPE_CAB ? "new_d.txt" : "d.plt", shape_header(shape));
        add_walk(shape, &set.member[0].bytes, "d", "u", &random);
        struct outcome whole = trial_read(&trial, &set);
        assert_int_equal(whole.rejected[DPL_REJECT_CUT_OFF], 0);
        shape_row(shape, &set.member[0].bytes, "d", "u", DAY_S + 60000, 48.1, 11.1);
        set.member[0].bytes.length -= shape == SHAPE_SEMICOLON || shape == SHAPE_GEOLIFE ? 2 : 1;
        struct outcome cut = trial_read(&trial, &set);
        assert_int_equal(cut.status, DPL_OK);
        assert_int_equal(cut.rejected[DPL_REJECT_CUT_OFF], 1);
        assert_string_equal(outcome_compare(&whole, &(struct outcome){0}, &cut), "");
        outcome_free(&whole), outcome_free(&cut);
        set_free(&set);
    }
    assert_string_equal(dpl_reject_name(DPL_REJECT_CUT_OFF), "cut_off");
    test_directory_remove(directory);
}

/* Scattered rows in a table make everything be read again; what the first pass took from files
 * beside the table must not be there twice. */
static void reading_again_takes_nothing_twice(void **state) {
    (void)state;
    char *directory = test_directory();
    struct trial trial = {.directory = directory,
                          .limits = {.line_bytes = 256, .member_bytes = 1 << 20},
                          .threads = 1};
    struct pair pair = {.one = {.shape = SHAPE_CAB}};
    struct bytes unit = {0};
    uint64_t random = 7;
    make_files(&pair.one, &random);
    start_member(&pair.one, "table.csv", shape_header(SHAPE_CSV));
    struct bytes *table = &pair.one.member[pair.one.n - 1].bytes;
    for (int i = 0; i < 60; i++) {
        char name[8];
        snprintf(name, sizeof name, "d%d", i);
        add_walk(SHAPE_CSV, table, name, "u", &random);
    }
    for (int i = 0; i < 3; i++) {
        char name[MEMBER_NAME];
        member_name(SHAPE_CAB, 50 + i, name);
        start_member(&pair.one, name, "");
        add_walk(SHAPE_CAB, &pair.one.member[pair.one.n - 1].bytes, "", "", &random);
    }
    bytes_print(&unit, "%s", shape_header(SHAPE_CSV));
    add_braid(SHAPE_CSV, &unit, &random);
    for (enum position position = HEAD; position <= TAIL; position++) {
        struct pair next = {0};
        copy_set(&pair.one, &next.one);
        pair_file(&next, "zz.csv", &unit, position, &random);
        assert_neighbours(&trial, &next);
    }
    free(unit.text);
    set_free(&pair.one);
    test_directory_remove(directory);
}

/* Without --columns a first line that is no header stops the run, whatever comes behind it. */
static void no_header_and_no_columns_is_a_usage_error(void **state) {
    (void)state;
    char *directory = test_directory();
    struct trial trial = full_trial(directory);
    struct set set = {.shape = SHAPE_CSV};
    uint64_t random = 9;
    start_member(&set, "", "");
    add_walk(SHAPE_CSV, &set.member[0].bytes, "d", "u", &random);
    struct outcome outcome = trial_read(&trial, &set);
    assert_int_equal(outcome.status, DPL_USAGE);
    assert_non_null(strstr(outcome.message, "`read.columns`"));
    assert_int_equal(outcome.n_recordings, 0);
    outcome_free(&outcome);
    set_free(&set);
    test_directory_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milliseconds_first_change_no_other_row),
        cmocka_unit_test(iso_first_changes_no_other_row),
        cmocka_unit_test(another_separator_first_changes_no_other_row),
        cmocka_unit_test(rubbish_first_does_not_change_the_format),
        cmocka_unit_test(an_archives_mark_first_is_a_bad_row),
        cmocka_unit_test(a_quoted_id_changes_no_other_row),
        cmocka_unit_test(a_byte_order_mark_belongs_to_its_line),
        cmocka_unit_test(a_line_over_a_megabyte_takes_no_other_with_it),
        cmocka_unit_test(one_persons_file_changes_no_other),
        cmocka_unit_test(a_bad_first_line_costs_a_cab_no_trip),
        cmocka_unit_test(a_file_over_the_limit_is_dropped_alone),
        cmocka_unit_test(a_last_line_without_its_end_is_a_bad_row),
        cmocka_unit_test(reading_again_takes_nothing_twice),
        cmocka_unit_test(no_header_and_no_columns_is_a_usage_error),
        cmocka_unit_test(long_lines_at_every_alignment),
        cmocka_unit_test(a_long_first_row_does_not_depend_on_its_place),
        cmocka_unit_test(random_neighbours_of_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
