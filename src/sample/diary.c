/* Diaries. See diary.h.
 *
 *     each day       everybody draws how many trips they make today
 *     each trip      people who wait within 300 m of its beginning, the cheapest of them:
 *                    last trip of the day and home is where it ends    0
 *                    more trips to come                                1 (on the way home .5)
 *                    last trip of the day and it ends elsewhere        6
 *                    no trip left today                                3 or 4
 *                    plus their distance, and how much more frequent such gaps are than they should
 *                    or somebody at home for whom the day begins, wherever yesterday ended
 *                    or somebody whose first trip it is: home is where it begins
 *                    or somebody who waits farther off
 *
 * The second and the last way break the chain of a person's trips; they are open while fewer chains
 * were broken than the model says, or if nobody else is left. People wait in squares of 300 m,
 * those with trips left today apart from the others. Of a square's list at most LOOKS are looked
 * at, going on where the last look ended, so that a trip costs a bounded number of looks whatever
 * the density.
 *
 * Invariant: a trip is given to nobody before the end of their last one. If all are on their way,
 * there is one person more. */
#include "sample/diary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, LOOKS = 64, RINGS = 10, ANYWHERE_LOOKS = 1024 };

static const double HOMEWARD = 0, LEAVING = 1, ON_THE_WAY = 0.5, ASTRAY = 6, HOME_ALREADY = 4,
                    STRANDED = 3, OVERDRAWN = 8;
static const double BEGINS_AT_HOME = 1.5; // costs of the second way, before distance
static const double TOO_DEAR = 3;         // from here on other ways are tried first
static const double GAP_MOST = 6;

/* ---- what the model says ---- */

static enum dpl_status read_shares(struct dpl_run *run, const struct dpl_model *model,
                                   const char *name, int rank, const size_t *shape,
                                   const float **shares) {
    size_t n = 1;
    *shares = NULL;
    if (!dpl_model_has(model, name)) return DPL_OK;
    DPL_TRY(dpl_model_get(run, model, name, DPL_TENSOR_F32, rank, shape, shares));
    for (int i = 0; i < rank; i++) n *= shape[i];
    for (size_t i = 0; i < n; i++)
        if (!((*shares)[i] >= 0 && (*shares)[i] <= 1))
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"%s\" holds a number that is no share", name);
    return DPL_OK;
}

static void take_chains(const float *chains, struct dpl_habits *habits) {
    double near = 0, all = 0;
    for (size_t i = 0; i < DPL_GAPS * DPL_REACHES; i++) {
        habits->gaps[i / DPL_REACHES] += (double)chains[i];
        near += i % DPL_REACHES == 0 ? (double)chains[i] : 0;
        all += (double)chains[i];
    }
    if (all > 0) habits->near = near / all;
    habits->knows_gaps = all > 0;
    for (size_t i = 0; i < DPL_GAPS && all > 0; i++) habits->gaps[i] /= all;
}

double dpl_habits_kept(const struct dpl_habits *habits, double most) {
    double sum = 0, all = 0;
    for (size_t i = 0; i < DPL_USER_BINS; i++) {
        sum += habits->users[i] * fmin(dpl_user_bin_trips(i), most);
        all += habits->users[i];
    }
    return all > 0 ? sum / all : 0;
}

enum dpl_status dpl_habits_read(struct dpl_run *run, const struct dpl_model *model,
                                struct dpl_habits *habits) {
    const float *users, *chains, *days;
    DPL_TRY(read_shares(run, model, DPL_MODEL_USERS, 1, (size_t[]){DPL_USER_BINS}, &users));
    DPL_TRY(
        read_shares(run, model, DPL_MODEL_CHAINS, 2, (size_t[]){DPL_GAPS, DPL_REACHES}, &chains));
    DPL_TRY(read_shares(run, model, DPL_MODEL_DAYS, 2, (size_t[]){2, DPL_DAY_BINS}, &days));
    *habits = (struct dpl_habits){.near = 1};
    double all = 0;
    for (size_t i = 0; users && i < DPL_USER_BINS; i++) habits->users[i] = (double)users[i];
    habits->mean_trips = dpl_habits_kept(habits, INFINITY);
    if (chains) take_chains(chains, habits);
    for (size_t i = 0; days && i < 2 * DPL_DAY_BINS; i++) {
        habits->a_day[i % DPL_DAY_BINS] += (double)days[i];
        habits->mean_a_day += (double)days[i] * dpl_day_bin_trips(i % DPL_DAY_BINS);
        all += (double)days[i];
    }
    habits->mean_a_day = all > 0 ? habits->mean_a_day / all : 0;
    return DPL_OK;
}

/* One of n bins by weights that are not all 0. */
static size_t draw_bin(struct dpl_stream *stream, const double *weight, size_t n) {
    double total = 0;
    size_t last = 0;
    for (size_t i = 0; i < n; i++) total += weight[i];
    double u = dpl_stream_uniform(stream) * total;
    for (size_t i = 0; i < n; i++)
        if (weight[i] > 0) {
            last = i;
            if ((u -= weight[i]) < 0) break;
        }
    return last;
}

/* ---- people ---- */

struct person {
    struct dpl_position at, home;
    int64_t free_s;       // when the last trip ends
    int32_t left, today;  // trips to make in all, and today; below 0: more were made
    int32_t next, before; // in the list of those who wait in a square
    int32_t list;         // which list that is; NOBODY: not waiting
    int32_t neighbour;    // the next one whose home is in the same square
    bool begun, out;      // has made a trip; has made one today
};

/* Circular lists; `head` is where the next look begins. */
struct squares {
    int32_t columns, rows;
    int32_t *waiting; // (2, squares) first those with trips left today
    int32_t *homes;   // (squares)
};

struct diary {
    const struct dpl_habits *habits;
    struct dpl_stream *stream;
    struct person *person; // (n_people)
    size_t n_people, capacity;
    struct squares squares;
    int32_t *travelling; // a heap by free_s
    size_t n_travelling, travelling_capacity;
    int32_t *fresh; // (n_fresh) people without a trip so far who make one today
    size_t n_fresh, fresh_capacity;
    size_t cursor; // where the last look at everybody ended
    size_t n_idle; // people who wait, or have not begun
    double transitions, near, gaps[DPL_GAPS];
    double gap_cost[DPL_GAPS]; // how much too frequent gaps of that length are so far
};

static double metres(struct dpl_position a, struct dpl_position b) {
    double x = (double)a.x_m - (double)b.x_m, y = (double)a.y_m - (double)b.y_m;
    return sqrt(x * x + y * y);
}

static int32_t clamp(double value, int32_t most) {
    return value < 0 ? 0 : value >= most ? most - 1 : (int32_t)value;
}

static int32_t square_of(const struct squares *squares, struct dpl_position at) {
    int32_t column = clamp((double)at.x_m / DPL_NEAR_M, squares->columns),
            row = clamp((double)at.y_m / DPL_NEAR_M, squares->rows);
    return row * squares->columns + column;
}

static void wait(struct diary *diary, int32_t who) {
    struct person *person = &diary->person[who];
    struct squares *squares = &diary->squares;
    int32_t list = square_of(squares, person->at) +
                   (person->today > 0 ? 0 : squares->columns * squares->rows),
            head = squares->waiting[list];
    person->list = list;
    if (head == NOBODY) {
        squares->waiting[list] = person->next = person->before = who;
        return;
    }
    int32_t last = diary->person[head].before; // behind all others
    person->next = head, person->before = last;
    diary->person[last].next = diary->person[head].before = who;
}

static void leave(struct diary *diary, int32_t who) {
    struct person *person = &diary->person[who];
    int32_t *head = &diary->squares.waiting[person->list];
    if (person->next == who)
        *head = NOBODY;
    else if (*head == who)
        *head = person->next;
    diary->person[person->before].next = person->next;
    diary->person[person->next].before = person->before;
    person->list = NOBODY;
}

/* ---- on their way ---- */

static bool earlier(const struct diary *diary, int32_t a, int32_t b) {
    const struct person *x = &diary->person[a], *y = &diary->person[b];
    return x->free_s != y->free_s ? x->free_s < y->free_s : a < b;
}

static enum dpl_status travel(struct dpl_run *run, struct diary *diary, int32_t who) {
    DPL_TRY(dpl_grow(run, &diary->travelling, &diary->travelling_capacity, diary->n_travelling + 1,
                     sizeof *diary->travelling));
    size_t at = diary->n_travelling++;
    for (; at > 0 && earlier(diary, who, diary->travelling[(at - 1) / 2]); at = (at - 1) / 2)
        diary->travelling[at] = diary->travelling[(at - 1) / 2];
    diary->travelling[at] = who;
    return DPL_OK;
}

static int32_t first_to_arrive(struct diary *diary) {
    int32_t *heap = diary->travelling, first = heap[0], moved = heap[--diary->n_travelling];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < diary->n_travelling; at = child) {
        if (child + 1 < diary->n_travelling && earlier(diary, heap[child + 1], heap[child]))
            child++;
        if (!earlier(diary, heap[child], moved)) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
    return first;
}

static void arrive_until(struct diary *diary, int64_t now_s) {
    while (diary->n_travelling > 0 && diary->person[diary->travelling[0]].free_s <= now_s)
        wait(diary, first_to_arrive(diary)), diary->n_idle++;
}

/* ---- a day ---- */

/* How many of the trips left are made today, which has `share` of all that are to come. */
static int32_t draw_today(struct diary *diary, const struct person *person, double share) {
    const struct dpl_habits *habits = diary->habits;
    double wanted = fmax(person->left, 0) * share, trips = wanted;
    if (habits->mean_a_day > 0) {
        bool active = dpl_stream_uniform(diary->stream) * habits->mean_a_day < wanted;
        trips = active ? dpl_day_bin_trips(draw_bin(diary->stream, habits->a_day, DPL_DAY_BINS)) *
                             fmax(wanted / habits->mean_a_day, 1)
                       : 0;
    }
    trips = floor(trips + dpl_stream_uniform(diary->stream));
    return (int32_t)fmin(trips, person->left);
}

/* Lists are made anew: who waits with trips left today, and who without. */
static enum dpl_status begin_day(struct dpl_run *run, struct diary *diary, double share) {
    diary->n_fresh = 0;
    DPL_TRY(dpl_grow(run, &diary->fresh, &diary->fresh_capacity, diary->n_people,
                     sizeof *diary->fresh));
    for (size_t i = 0; i < diary->n_people; i++) {
        struct person *person = &diary->person[i];
        bool waits = person->list != NOBODY;
        if (waits) leave(diary, (int32_t)i);
        person->today = draw_today(diary, person, share);
        person->out = false;
        if (waits) wait(diary, (int32_t)i);
        if (!person->begun && person->today > 0) diary->fresh[diary->n_fresh++] = (int32_t)i;
    }
    return DPL_OK;
}

/* ---- a trip ---- */

struct choice {
    int32_t who;
    double cost;
};

static void weigh_gaps(struct diary *diary) {
    if (!diary->habits->knows_gaps) return;
    for (size_t gap = 0; gap < DPL_GAPS; gap++) {
        double wanted = diary->habits->gaps[gap] * diary->transitions,
               cost = log((diary->gaps[gap] + 1) / (wanted + 1));
        diary->gap_cost[gap] = fmin(fmax(cost, -GAP_MOST), GAP_MOST);
    }
}

static double near_cost(const struct diary *diary, const struct person *person,
                        const struct dpl_errand *errand) {
    bool homeward = metres(person->home, errand->to) <= DPL_NEAR_M,
         at_home = metres(person->home, person->at) <= DPL_NEAR_M;
    double cost = metres(person->at, errand->from) / DPL_NEAR_M +
                  diary->gap_cost[dpl_gap_bin(errand->begin_s - person->free_s)];
    if (person->left <= 0) cost += OVERDRAWN;
    if (person->today == 1) return cost + (homeward ? HOMEWARD : ASTRAY);
    if (person->today > 1) return cost + (homeward ? ON_THE_WAY : LEAVING);
    return cost + (at_home ? HOME_ALREADY : STRANDED);
}

/* The cheapest who wait in a list within 300 m. */
static void look_near(struct diary *diary, int32_t list, const struct dpl_errand *errand,
                      struct choice *best) {
    int32_t *head = &diary->squares.waiting[list], who = *head;
    for (int looks = 0; who != NOBODY && looks < LOOKS; looks++) {
        const struct person *person = &diary->person[who];
        if (metres(person->at, errand->from) <= DPL_NEAR_M) {
            double cost = near_cost(diary, person, errand);
            if (cost < best->cost) *best = (struct choice){who, cost};
        }
        who = person->next;
        if (who == *head) return; // all of them
    }
    *head = who;
}

/* The cheapest whose home is within 300 m, for whom the day begins and who are elsewhere. */
static void look_home(struct diary *diary, int32_t square, const struct dpl_errand *errand,
                      struct choice *best) {
    int32_t *head = &diary->squares.homes[square], who = *head;
    for (int looks = 0; who != NOBODY && looks < LOOKS; looks++) {
        const struct person *person = &diary->person[who];
        double off_m = metres(person->home, errand->from);
        if (person->list != NOBODY && !person->out && person->today > 0 && off_m <= DPL_NEAR_M) {
            double cost = BEGINS_AT_HOME + off_m / DPL_NEAR_M + (person->today == 1 ? 1 : 0);
            if (cost < best->cost) *best = (struct choice){who, cost};
        }
        who = person->neighbour;
        if (who == *head) return;
    }
    *head = who;
}

/* The nearest who wait in a list; cost: metres. */
static void look_far(struct diary *diary, int32_t list, const struct dpl_errand *errand,
                     struct choice *best) {
    int32_t *head = &diary->squares.waiting[list], who = *head;
    for (int looks = 0; who != NOBODY && looks < LOOKS; looks++) {
        double off_m = metres(diary->person[who].at, errand->from);
        if (off_m < best->cost) *best = (struct choice){who, off_m};
        who = diary->person[who].next;
        if (who == *head) return;
    }
    *head = who;
}

typedef void look_function(struct diary *diary, int32_t list, const struct dpl_errand *errand,
                           struct choice *best);

/* All squares `ring` away from where the trip begins, in lists from `first` on. */
static void look_around(struct diary *diary, int32_t ring, int32_t first, look_function *look,
                        const struct dpl_errand *errand, struct choice *best) {
    const struct squares *squares = &diary->squares;
    int32_t square = square_of(squares, errand->from), row = square / squares->columns,
            column = square % squares->columns;
    for (int32_t r = row - ring; r <= row + ring; r++)
        for (int32_t c = column - ring; c <= column + ring; c++) {
            if (abs(r - row) < ring && abs(c - column) < ring) c = column + ring; // not the inside
            if (r >= 0 && r < squares->rows && c >= 0 && c < squares->columns)
                look(diary, first + r * squares->columns + c, errand, best);
        }
}

/* Someone who waits near, with trips left today if there is such a one. */
static struct choice find_near(struct diary *diary, const struct dpl_errand *errand) {
    struct choice best = {NOBODY, INFINITY};
    int32_t tired = diary->squares.columns * diary->squares.rows;
    for (int32_t ring = 0; ring < 2; ring++) look_around(diary, ring, 0, look_near, errand, &best);
    for (int32_t ring = 0; ring < 2 && best.cost >= TOO_DEAR; ring++)
        look_around(diary, ring, tired, look_near, errand, &best);
    return best;
}

static struct choice find_far(struct diary *diary, const struct dpl_errand *errand) {
    struct choice best = {NOBODY, INFINITY};
    for (int32_t ring = 0; ring <= RINGS && best.who == NOBODY; ring++)
        look_around(diary, ring, 0, look_far, errand, &best);
    return best;
}

/* Anybody who waits or has not begun; NOBODY: all are on their way. */
static int32_t find_anyone(struct diary *diary) {
    int32_t found = NOBODY;
    for (size_t looks = 0; diary->n_idle > 0 && looks < diary->n_people; looks++) {
        size_t who = diary->cursor = (diary->cursor + 1) % diary->n_people;
        if (diary->person[who].begun && diary->person[who].list == NOBODY) continue;
        found = (int32_t)who;
        if (diary->person[who].today > 0 || looks >= ANYWHERE_LOOKS) break;
    }
    return found;
}

static int32_t find_fresh(struct diary *diary) {
    while (diary->n_fresh > 0) {
        int32_t who = diary->fresh[--diary->n_fresh];
        if (!diary->person[who].begun) return who;
    }
    return NOBODY;
}

/* One more than was thought of. */
static enum dpl_status add_person(struct dpl_run *run, struct diary *diary, int32_t left) {
    DPL_TRY(dpl_grow(run, &diary->person, &diary->capacity, diary->n_people + 1,
                     sizeof *diary->person));
    diary->person[diary->n_people++] =
        (struct person){.left = left, .list = NOBODY, .neighbour = NOBODY};
    diary->n_idle++;
    return DPL_OK;
}

static enum dpl_status choose(struct dpl_run *run, struct diary *diary,
                              const struct dpl_errand *errand, int32_t *who) {
    double broken = diary->transitions - diary->near;
    weigh_gaps(diary);
    bool may_break = broken < (1 - diary->habits->near) * diary->transitions;
    struct choice best = find_near(diary, errand);
    for (int32_t ring = 0; ring < 2 && may_break && best.cost > BEGINS_AT_HOME; ring++)
        look_around(diary, ring, 0, look_home, errand, &best);
    *who = best.who;
    if (best.cost < TOO_DEAR) return DPL_OK;
    int32_t other = find_fresh(diary);
    if (other == NOBODY && (may_break || *who == NOBODY)) other = find_far(diary, errand).who;
    if (other != NOBODY) *who = other;
    if (*who == NOBODY) *who = find_anyone(diary);
    if (*who != NOBODY) return DPL_OK;
    *who = (int32_t)diary->n_people;
    return add_person(run, diary, 1);
}

static void settle_home(struct diary *diary, int32_t who, struct dpl_position home) {
    struct person *person = &diary->person[who];
    int32_t *head = &diary->squares.homes[square_of(&diary->squares, home)];
    person->begun = true, person->home = home;
    person->neighbour = *head == NOBODY ? who : diary->person[*head].neighbour;
    if (*head == NOBODY)
        *head = who;
    else
        diary->person[*head].neighbour = who;
}

static enum dpl_status give(struct dpl_run *run, struct diary *diary, int32_t who,
                            const struct dpl_errand *errand) {
    struct person *person = &diary->person[who];
    if (person->list != NOBODY) leave(diary, who);
    if (person->begun) {
        diary->transitions++;
        diary->near += metres(person->at, errand->from) <= DPL_NEAR_M;
        diary->gaps[dpl_gap_bin(errand->begin_s - person->free_s)]++;
    } else {
        settle_home(diary, who, errand->from);
    }
    diary->n_idle--, person->left--, person->today--;
    person->out = true, person->at = errand->to, person->free_s = errand->end_s;
    return travel(run, diary, who);
}

/* ---- all trips ---- */

struct timed {
    int64_t begin_s;
    uint32_t errand;
};

static int by_time(const void *a, const void *b) {
    const struct timed *x = a, *y = b;
    if (x->begin_s != y->begin_s) return x->begin_s < y->begin_s ? -1 : 1;
    return x->errand < y->errand ? -1 : x->errand > y->errand;
}

static enum dpl_status open_diary(struct dpl_run *run, const struct dpl_habits *habits, size_t n,
                                  size_t people, double width_m, double height_m,
                                  struct diary *diary) {
    struct squares *squares = &diary->squares;
    squares->columns = (int32_t)(width_m / DPL_NEAR_M) + 1;
    squares->rows = (int32_t)(height_m / DPL_NEAR_M) + 1;
    size_t lists = (size_t)squares->columns * (size_t)squares->rows;
    squares->waiting = dpl_alloc(run, 2 * lists, sizeof *squares->waiting);
    squares->homes = dpl_alloc(run, lists, sizeof *squares->homes);
    if (!squares->waiting || !squares->homes) return DPL_SYSTEM;
    for (size_t i = 0; i < 2 * lists; i++) squares->waiting[i] = NOBODY;
    for (size_t i = 0; i < lists; i++) squares->homes[i] = NOBODY;
    double even = (double)n / (double)people;
    for (size_t i = 0; i < people; i++) {
        double trips = floor(even + dpl_stream_uniform(diary->stream));
        if (habits->mean_trips > 0) {
            size_t bin = draw_bin(diary->stream, habits->users, DPL_USER_BINS);
            double most = dpl_user_bin_top(bin), least = bin ? dpl_user_bin_top(bin - 1) + 1 : 1;
            trips = least + floor(dpl_stream_uniform(diary->stream) * (most - least + 1));
        }
        DPL_TRY(add_person(run, diary, (int32_t)fmax(trips, 1)));
    }
    return DPL_OK;
}

static void close_diary(struct diary *diary) {
    dpl_free(diary->person), dpl_free(diary->travelling), dpl_free(diary->fresh);
    dpl_free(diary->squares.waiting), dpl_free(diary->squares.homes);
}

/* How many of the trips from i on begin on the day of trip i. */
static size_t trips_of_day(const struct dpl_errand *errand, const struct timed *sorted, size_t i,
                           size_t n) {
    size_t end = i;
    while (end < n && errand[sorted[end].errand].day == errand[sorted[i].errand].day) end++;
    return end - i;
}

static enum dpl_status give_out(struct dpl_run *run, struct diary *diary,
                                const struct dpl_errand *errand, const struct timed *sorted,
                                size_t n, uint32_t *person) {
    for (size_t i = 0, day = 0; i < n; i++) {
        const struct dpl_errand *now = &errand[sorted[i].errand];
        int32_t who;
        if (i == day) {
            size_t today = trips_of_day(errand, sorted, i, n);
            DPL_TRY(begin_day(run, diary, (double)today / (double)(n - i)));
            day += today;
        }
        arrive_until(diary, now->begin_s);
        DPL_TRY(choose(run, diary, now, &who));
        DPL_TRY(give(run, diary, who, now));
        person[sorted[i].errand] = (uint32_t)who;
    }
    return DPL_OK;
}

/* Trips by person; sorted is in the order of time, and so is each person's part of it. */
static enum dpl_status order_trips(struct dpl_run *run, const struct timed *sorted, size_t n,
                                   struct dpl_diary *diary) {
    size_t *at = dpl_alloc(run, diary->n_people + 1, sizeof *at);
    if (!at) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) at[diary->person[i] + 1]++;
    for (size_t p = 0; p < diary->n_people; p++) at[p + 1] += at[p];
    for (size_t i = 0; i < n; i++)
        diary->order[at[diary->person[sorted[i].errand]]++] = sorted[i].errand;
    dpl_free(at);
    return DPL_OK;
}

/* People without a trip are none: those who have one are numbered anew. */
static enum dpl_status number_people(struct dpl_run *run, const struct diary *all, size_t n,
                                     struct dpl_diary *diary) {
    uint32_t *number = dpl_alloc(run, all->n_people, sizeof *number);
    if (!number) return DPL_SYSTEM;
    for (size_t i = 0; i < all->n_people; i++)
        number[i] = all->person[i].begun ? (uint32_t)diary->n_people++ : 0;
    for (size_t i = 0; i < n; i++) diary->person[i] = number[diary->person[i]];
    dpl_free(number);
    return DPL_OK;
}

enum dpl_status dpl_diary_make(struct dpl_run *run, const struct dpl_habits *habits,
                               const struct dpl_errand *errand, size_t n, size_t people,
                               double width_m, double height_m, struct dpl_stream *stream,
                               struct dpl_diary *made) {
    struct diary diary = {.habits = habits, .stream = stream};
    struct dpl_diary out = {0};
    enum dpl_status status = DPL_SYSTEM;
    struct timed *sorted = dpl_alloc(run, n, sizeof *sorted);
    out.person = dpl_alloc(run, n, sizeof *out.person);
    out.order = dpl_alloc(run, n, sizeof *out.order);
    if (!sorted || !out.person || !out.order) goto done;
    for (size_t i = 0; i < n; i++) sorted[i] = (struct timed){errand[i].begin_s, (uint32_t)i};
    qsort(sorted, n, sizeof *sorted, by_time);
    DPL_GO(open_diary(run, habits, n, people, width_m, height_m, &diary));
    DPL_GO(give_out(run, &diary, errand, sorted, n, out.person));
    DPL_GO(number_people(run, &diary, n, &out));
    DPL_GO(order_trips(run, sorted, n, &out));
    *made = out;
    out = (struct dpl_diary){0};
done:
    close_diary(&diary);
    dpl_free(sorted);
    dpl_diary_free(&out);
    return status;
}

void dpl_diary_free(struct dpl_diary *diary) {
    dpl_free(diary->person);
    dpl_free(diary->order);
    *diary = (struct dpl_diary){0};
}
