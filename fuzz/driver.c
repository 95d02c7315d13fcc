/* Runs a fuzz target over its seed corpus and over mutations of it, the same ones every time. No
 * coverage feedback: that is libFuzzer's job (make fuzz). DPLOC_SOAK multiplies the number of
 * rounds. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

enum { SEEDS_MAX = 64, SIZE_MAX_BYTES = 1 << 17, ROUNDS = 500 };

static struct seed {
    uint8_t bytes[SIZE_MAX_BYTES];
    size_t length;
} seeds[SEEDS_MAX];
static size_t n_seeds;

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void load_seeds(const char *folder) {
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list)) && n_seeds < SEEDS_MAX;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file) continue;
        seeds[n_seeds].length = fread(seeds[n_seeds].bytes, 1, SIZE_MAX_BYTES, file);
        if (fgetc(file) != EOF) { // cut short it would be refused at once, and try nothing
            fprintf(stderr, "%s is longer than %d bytes: make it smaller\n", path, SIZE_MAX_BYTES);
            exit(1);
        }
        n_seeds++;
        fclose(file);
    }
    if (list) closedir(list);
}

/* One to six small changes: a byte, a run removed or doubled, a piece of another seed, a nasty
 * token. */
static void mutate(struct seed *s, uint64_t *random) {
    static const char *const TOKENS[] = {"\"",         ",",
                                         "\n",         "\r\n",
                                         "nan",        "-",
                                         "1e309",      "99999999999999999999",
                                         "0",          "[[",
                                         "]]",         ";",
                                         "\t",         "\xEF\xBB\xBF",
                                         "1970-01-01", "."};
    for (uint64_t changes = 1 + next_random(random) % 6; changes > 0; changes--) {
        size_t at = s->length ? next_random(random) % s->length : 0,
               run = 1 + next_random(random) % 40;
        if (run > s->length - at) run = s->length - at;
        switch (next_random(random) % 5) {
        case 0:
            if (s->length) s->bytes[at] = (uint8_t)next_random(random);
            break;
        case 1:
            memmove(s->bytes + at, s->bytes + at + run, s->length - at - run);
            s->length -= run;
            break;
        case 2:
            if (s->length + run > SIZE_MAX_BYTES) break;
            memmove(s->bytes + at + run, s->bytes + at, s->length - at);
            s->length += run;
            break;
        case 3: {
            const struct seed *other = &seeds[next_random(random) % n_seeds];
            size_t from = other->length ? next_random(random) % other->length : 0,
                   take = other->length - from;
            if (take > SIZE_MAX_BYTES - at) take = SIZE_MAX_BYTES - at;
            memmove(s->bytes + at, other->bytes + from, take);
            if (at + take > s->length) s->length = at + take;
            break;
        }
        default: {
            const char *token = TOKENS[next_random(random) % (sizeof TOKENS / sizeof *TOKENS)];
            size_t length = strlen(token);
            if (s->length + length > SIZE_MAX_BYTES) break;
            memmove(s->bytes + at + length, s->bytes + at, s->length - at);
            memcpy(s->bytes + at, token, length);
            s->length += length;
        }
        }
    }
}

int main(int argc, char **argv) {
    static struct seed work;
    if (argc > 1) load_seeds(argv[1]);
    if (!n_seeds) {
        fprintf(stderr, "usage: %s CORPUS (a folder with at least one seed)\n", argv[0]);
        return 1;
    }
    const char *soak = getenv("DPLOC_SOAK");
    size_t rounds = (size_t)(ROUNDS * (soak ? strtod(soak, NULL) : 1));
    uint64_t random = 1;
    for (size_t i = 0; i < n_seeds; i++) LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].length);
    for (size_t i = 0; i < rounds; i++) {
        work = seeds[next_random(&random) % n_seeds];
        mutate(&work, &random);
        LLVMFuzzerTestOneInput(work.bytes, work.length);
    }
    printf("%zu seeds, %zu mutations\n", n_seeds, rounds);
    return 0;
}
