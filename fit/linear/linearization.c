/* Linearizations of shots: layout, and records made of them. */
#include "fit/linear/linearization.h"

#include "fit/config/quantity.h"

#include <math.h>
#include <string.h>

static size_t doubles_of(size_t local, size_t shared) { return 1 + 6 * local + shared; }

size_t db_linearization_size(size_t count, size_t local, size_t shared, size_t most) {
    const size_t each = sizeof(uint32_t) + (6 + 2 * most + most * (most + 1) / 2) * sizeof(float) +
                        (1 + most) * sizeof(uint16_t) + 3 * sizeof(int16_t);
    return (doubles_of(local, shared) * sizeof(double) + count * each + 15) / 16 * 16;
}

db_linearization db_linearization_in(size_t count, size_t local, size_t shared, size_t most,
                                     void *memory) {
    db_linearization s = { .count = count, .local = local, .shared = shared, .most = most };
    double *const numbers = memory;
    s.at = numbers;
    s.lower = s.at + local + shared;
    s.upper = s.lower + local;
    s.near = s.upper + local;
    s.prior_slope = s.near + local;
    s.prior_curvature = s.prior_slope + local;
    s.prior_loss = s.prior_curvature + local;
    s.reflection = (uint32_t *)(void *)(numbers + doubles_of(local, shared));
    s.intensity = (float *)(void *)(s.reflection + count);
    s.loss = s.intensity + count;
    s.pull = s.loss + count;
    s.curvature = s.pull + count;
    s.partiality = s.curvature + count;
    s.light = s.partiality + count;
    s.slope = s.light + count;
    s.mixed = s.slope + count * most;
    s.normal = s.mixed + count * most;
    s.moved = (uint16_t *)(void *)(s.normal + count * (most * (most + 1) / 2));
    s.place = s.moved + count;
    s.hkl = (int16_t(*)[3])(void *)(s.place + count * most);
    return s;
}

/* Are the places of the quantities that move a box in range? */
static int has_sound_places(const db_linearization *s, size_t b, size_t meets) {
    size_t met = 0;
    int sound = s->moved[b] <= s->most;
    for (size_t i = 0; sound && i < s->moved[b]; i++) {
        const size_t place = s->place[b * s->most + i];
        met += place >= s->local;
        sound = place < s->local + s->shared && met <= meets;
    }
    return sound;
}

int db_linearization_is_sound(const db_linearization *s, size_t reflections, size_t meets) {
    int sound = 1;
    for (size_t b = 0; b < s->count; b++)
        sound &= s->reflection[b] < reflections && has_sound_places(s, b, meets);
    return sound;
}

/* Changes at a point of everything that a box depends on. */
typedef struct change {
    double x;        /* of its intensity */
    const double *z; /* [local + shared] of all quantities */
} change;

static double pull_at(const db_linearization *s, size_t b, const change *c) {
    const uint16_t *const place = s->place + b * s->most;
    const float *const mixed = s->mixed + b * s->most;
    double sum = (double)s->pull[b] + (double)s->curvature[b] * c->x;
    for (size_t i = 0; i < s->moved[b]; i++) sum += (double)mixed[i] * c->z[place[i]];
    return sum;
}

double db_linearization_own(const db_linearization *s, size_t b, const db_linearization_point *p) {
    const uint16_t *const place = s->place + b * s->most;
    const float *const mixed = s->mixed + b * s->most;
    double pull = (double)s->pull[b];
    for (size_t i = 0; i < s->moved[b]; i++) {
        const size_t k = place[i];
        const double to = k < s->local ? p->local[k] : p->shared[k - s->local];
        pull += (double)mixed[i] * (to - s->at[k]);
    }
    return (double)s->intensity[b] - pull / (double)s->curvature[b];
}

static void hold_light_of_box(const db_linearization *s, size_t b, const double *growth) {
    const size_t most = s->most, moved = s->moved[b];
    const double I = (double)s->intensity[b], pull = (double)s->pull[b],
                 curvature = (double)s->curvature[b];
    const uint16_t *const place = s->place + b * most;
    float *const slope = s->slope + b * most, *const mixed = s->mixed + b * most,
                 *normal = s->normal + b * (most * (most + 1) / 2);
    for (size_t k = 0; k < moved; k++)
        for (size_t l = 0; l <= k; l++) {
            const double by_k = I * growth[place[k]], by_l = I * growth[place[l]];
            *normal = (float)((double)*normal - by_k * (double)mixed[l] - by_l * (double)mixed[k] +
                              by_k * by_l * curvature);
            normal++;
        }
    for (size_t k = 0; k < moved; k++) {
        const double by = I * growth[place[k]];
        slope[k] = (float)((double)slope[k] - by * pull);
        mixed[k] = (float)((double)mixed[k] - by * curvature);
    }
}

void db_linearization_hold_light(const db_linearization *s, const double *growth) {
    for (size_t b = 0; b < s->count; b++) hold_light_of_box(s, b, growth);
}

size_t db_linearization_room(const db_linearization *s) {
    const size_t all = s->local + s->shared;
    return all * (all + 3) + s->most;
}

/* Half the slope of a box's loss by the quantities that move it; returns its loss. */
static double slopes_at(const db_linearization *s, size_t b, const change *c, double *slope) {
    const uint16_t *const place = s->place + b * s->most;
    const float *const mixed = s->mixed + b * s->most;
    const float *const from = s->slope + b * s->most;
    const float *row = s->normal + b * (s->most * (s->most + 1) / 2);
    const size_t n = s->moved[b];
    double loss =
        (double)s->loss[b] + c->x * (2 * (double)s->pull[b] + (double)s->curvature[b] * c->x);
    for (size_t i = 0; i < n; i++) slope[i] = 0;
    for (size_t i = 0; i < n; row += ++i) {
        const double z = c->z[place[i]];
        for (size_t j = 0; j < i; j++) {
            slope[i] += (double)row[j] * c->z[place[j]];
            slope[j] += (double)row[j] * z;
        }
        slope[i] += (double)row[i] * z;
    }
    for (size_t i = 0; i < n; i++) {
        const double z = c->z[place[i]], linear = (double)from[i] + (double)mixed[i] * c->x;
        loss += z * (2 * linear + slope[i]);
        slope[i] += linear;
    }
    return loss;
}

/* Adds a box to gradient and normal matrix of all quantities, [local + shared]. */
static void add_box(const db_linearization *s, size_t b, double trust, const double *slope,
                    double *gradient, double *normal) {
    const size_t all = s->local + s->shared;
    const uint16_t *const place = s->place + b * s->most;
    const float *row = s->normal + b * (s->most * (s->most + 1) / 2);
    for (size_t i = 0; i < s->moved[b]; row += ++i) {
        double *const to = normal + place[i] * all;
        gradient[place[i]] += trust * slope[i];
        for (size_t j = 0; j <= i; j++) to[place[j]] += trust * (double)row[j];
    }
}

/* Adds priors; marks local quantities that are at a bound and pushed against it. */
static double add_priors(const db_linearization *s, const db_linearization_point *p,
                         const double *z, double *gradient, double *normal, unsigned char *held) {
    const size_t all = s->local + s->shared;
    double loss = *s->prior_loss;
    for (size_t i = 0; i < s->local; i++) {
        const double curvature = s->prior_curvature[i], slope = s->prior_slope[i];
        loss += z[i] * (2 * slope + curvature * z[i]);
        gradient[i] += slope + curvature * z[i];
        normal[i * all + i] += curvature;
        held[i] = (p->local[i] <= s->lower[i] + s->near[i] && gradient[i] > 0) ||
                  (p->local[i] >= s->upper[i] - s->near[i] && gradient[i] < 0);
    }
    return loss;
}

/* Mixed derivatives of a box by its intensity and the quantities that move it. mixed: [local], zeros before and
 * after. */
static void add_mixed(const db_linearization *s, size_t b, double *mixed, double *room,
                      db_reduced_equations *r) {
    const uint16_t *const place = s->place + b * s->most;
    const double trust = (double)r->trust[b];
    size_t met = b * r->meets;
    memset(r->by_shared + met, 0, r->meets * sizeof *r->by_shared);
    memset(r->place + met, 0, r->meets * sizeof *r->place);
    for (size_t i = 0; i < s->moved[b]; i++) {
        const double both = trust * (double)s->mixed[b * s->most + i];
        if (place[i] < s->local) {
            mixed[place[i]] = both;
            continue;
        }
        r->by_shared[met] = (float)both;
        r->place[met++] = (uint16_t)(place[i] - s->local);
    }
    db_reduced_box(r, b, mixed, room);
    memset(mixed, 0, s->local * sizeof *mixed);
}

void db_linearization_reduce(const db_linearization *s, const db_linearization_point *p,
                             double *room, db_reduced_equations *r) {
    const size_t n = s->local, all = n + s->shared;
    double *const z = room, *const gradient = z + all, *const mixed = gradient + all,
                  *const normal = mixed + all, *const slope = normal + all * all;
    unsigned char held[DB_FIT_MOST_PARAMETERS];
    memset(room, 0, (3 * all + all * all) * sizeof *room);
    for (size_t i = 0; i < all; i++) z[i] = (i < n ? p->local[i] : p->shared[i - n]) - s->at[i];
    *r->loss = 0;
    for (size_t b = 0; b < s->count; b++) {
        const double trust = (double)r->trust[b];
        const change c = { p->intensity[s->reflection[b]] - (double)s->intensity[b], z };
        *r->loss += trust * slopes_at(s, b, &c, slope);
        add_box(s, b, trust, slope, gradient, normal);
        r->pull[b] = (float)(trust * pull_at(s, b, &c));
        r->curvature[b] = (float)(trust * (double)s->curvature[b]);
    }
    *r->loss += add_priors(s, p, z, gradient, normal, held);
    for (size_t i = 0; i < all; i++) /* the lower triangle follows the boxes' order of quantities */
        for (size_t j = 0; j < i; j++)
            normal[i * all + j] = normal[j * all + i] = normal[i * all + j] + normal[j * all + i];
    db_reduced_eliminate(&(db_normal_equations){ gradient, normal, held }, r);
    for (size_t b = 0; b < s->count; b++) add_mixed(s, b, mixed, normal, r);
    memcpy(r->reflection, s->reflection, s->count * sizeof *s->reflection);
    memcpy(r->partiality, s->partiality, s->count * sizeof *s->partiality);
    memcpy(r->light, s->light, s->count * sizeof *s->light);
    memcpy(r->hkl, s->hkl, s->count * sizeof *s->hkl);
}

double db_linearization_loss(const db_linearization *s, const float *trust) {
    double sum = 0;
    for (size_t b = 0; b < s->count; b++) sum += (double)trust[b] * (double)s->loss[b];
    return sum + *s->prior_loss;
}
