/* Records of shots: layout, and elimination of local quantities by Cholesky's factors. */
#include "fit/linear/reduced.h"

#include "fit/linear/cholesky.h"

#include <math.h>
#include <string.h>

static size_t doubles_of(size_t local, size_t shared) {
    return 1 + local * (local + 1 + shared) + shared * (shared + 1);
}

size_t db_reduced_size(size_t count, size_t local, size_t shared, size_t meets) {
    const size_t each = sizeof(uint32_t) + (5 + local + meets) * sizeof(float) +
                        meets * sizeof(uint16_t) + 3 * sizeof(int16_t);
    return (doubles_of(local, shared) * sizeof(double) + count * each + 15) / 16 * 16;
}

db_reduced_equations db_reduced_in(size_t count, size_t local, size_t shared, size_t meets,
                                   void *memory) {
    db_reduced_equations r = { .count = count, .local = local, .shared = shared, .meets = meets };
    double *const numbers = memory;
    r.loss = numbers;
    r.factor = r.loss + 1;
    r.own = r.factor + local * local;
    r.cross = r.own + local;
    r.slope = r.cross + local * shared;
    r.normal = r.slope + shared;
    r.reflection = (uint32_t *)(void *)(numbers + doubles_of(local, shared));
    r.trust = (float *)(void *)(r.reflection + count);
    r.pull = r.trust + count;
    r.curvature = r.pull + count;
    r.tail = r.curvature + count;
    r.by_shared = r.tail + count * local;
    r.partiality = r.by_shared + count * meets;
    r.light = r.partiality + count;
    r.place = (uint16_t *)(void *)(r.light + count);
    r.hkl = (int16_t(*)[3])(void *)(r.place + count * meets);
    return r;
}

int db_reduced_is_sound(const db_reduced_equations *r, size_t reflections) {
    int sound = 1;
    for (size_t b = 0; b < r->count; b++) sound &= r->reflection[b] < reflections;
    for (size_t i = 0; i < r->count * r->meets; i++) sound &= r->place[i] < r->shared;
    return sound;
}

/* Leaves out the equation of a shared quantity that the local ones make up for: what is left of it is rounding. */
static void leave_out_absorbed(const double *before, db_reduced_equations *r) {
    const size_t m = r->shared, all = r->local + m;
    for (size_t g = 0; g < m; g++) {
        if (r->normal[g * m + g] > DB_LEAST_FOR_BOXES * before[(r->local + g) * (all + 1)])
            continue;
        r->slope[g] = 0;
        for (size_t h = 0; h < m; h++) r->normal[g * m + h] = r->normal[h * m + g] = 0;
    }
}

void db_reduced_eliminate(const db_normal_equations *q, db_reduced_equations *r) {
    const size_t n = r->local, m = r->shared, all = n + m;
    db_cholesky_factor(n, q->normal, all, 0, q->held, DB_LEAST_FOR_BOXES, r->factor);
    memcpy(r->own, q->gradient, n * sizeof *r->own);
    db_cholesky_forward(n, r->factor, r->own);
    for (size_t g = 0; g < m; g++) {
        for (size_t i = 0; i < n; i++) {
            const double *const row = r->factor + i * n;
            double sum = q->normal[i * all + n + g];
            for (size_t j = 0; j < i; j++) sum -= row[j] * r->cross[j * m + g];
            r->cross[i * m + g] = row[i] > 0 ? sum / row[i] : 0;
        }
        r->slope[g] = q->gradient[n + g];
        for (size_t i = 0; i < n; i++) r->slope[g] -= r->cross[i * m + g] * r->own[i];
    }
    for (size_t g = 0; g < m; g++)
        for (size_t h = 0; h < m; h++) {
            double sum = q->normal[(n + g) * all + n + h];
            for (size_t i = 0; i < n; i++) sum -= r->cross[i * m + g] * r->cross[i * m + h];
            r->normal[g * m + h] = sum;
        }
    leave_out_absorbed(q->normal, r);
}

void db_reduced_box(db_reduced_equations *r, size_t box, const double *mixed, double *room) {
    float *const tail = r->tail + box * r->local;
    memcpy(room, mixed, r->local * sizeof *room);
    db_cholesky_forward(r->local, r->factor, room);
    for (size_t i = 0; i < r->local; i++) tail[i] = (float)room[i];
}

void db_reduced_answer(const db_reduced_equations *r, int at_rest, const double *intensity,
                       const double *shared, double *local) {
    const size_t n = r->local, m = r->shared;
    for (size_t i = 0; i < n; i++) {
        local[i] = at_rest ? 0 : -r->own[i];
        for (size_t g = 0; g < m; g++) local[i] -= r->cross[i * m + g] * shared[g];
    }
    for (size_t b = 0; b < r->count; b++) {
        const float *const tail = r->tail + b * n;
        const double x = intensity[r->reflection[b]];
        for (size_t i = 0; i < n; i++) local[i] -= (double)tail[i] * x;
    }
    db_cholesky_back(n, r->factor, local);
}
