#include "fit/search/agreement.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"
#include "fit/config/certain.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

db_status db_search_lattice_make(db_context *context, const double a_star[9],
                                 db_search_lattice *lattice) {
    double across[3];
    memcpy(lattice->a_star, a_star, sizeof lattice->a_star);
    if (!db_invert(a_star, lattice->real))
        return db_fail(context, DB_ERROR_INPUT, "crystal: its reciprocal matrix is singular");
    db_cross(lattice->real, lattice->real + 3, across);
    lattice->volume = fabs(db_dot(across, lattice->real + 6));
    return DB_OK;
}

void db_search_lattice_stretch(const double longer[3], db_search_lattice *lattice) {
    for (int e = 0; e < 3; e++) {
        lattice->volume *= 1 + longer[e];
        for (int k = 0; k < 3; k++) {
            lattice->a_star[3 * k + e] /= 1 + longer[e];
            lattice->real[3 * e + k] *= 1 + longer[e];
        }
    }
}

void db_search_lattice_turn(const db_search_lattice *lattice, const double turn[9],
                            double a_star[9], double to_index[9]) {
    double back[9];
    db_multiply(turn, lattice->a_star, a_star);
    db_transpose(turn, back);
    db_multiply(lattice->real, back, to_index);
}

double db_search_tolerance(const db_search_spot *s, double angle) {
    return hypot(s->blur, angle * DB_DEGREE * s->length);
}

double db_search_chance(const db_search_lattice *lattice, double distance) {
    return fmin(1, lattice->volume * 4.18879020478639098462 * distance * distance * distance);
}

double db_search_nearest(const double a_star[9], const double to_index[9], const double q[3],
                         double node[3]) {
    double off[3];
    db_apply(to_index, q, node);
    for (int i = 0; i < 3; i++) node[i] = rint(node[i]);
    db_apply(a_star, node, node);
    for (int i = 0; i < 3; i++) off[i] = q[i] - node[i];
    return db_length(off);
}

void db_search_spot_at(const db_search_pose *pose, const db_search_spot *s, double q[3]) {
    for (int i = 0; i < 3; i++)
        q[i] =
            pose->scale * (s->q[i] + pose->beam[0] * s->by_beam[0][i] +
                           pose->beam[1] * s->by_beam[1][i] + pose->distance * s->by_distance[i]);
}

void db_search_spots_move(const db_search_pose *pose, db_search_spot *spots, size_t count) {
    for (size_t n = 0; n < count; n++) {
        db_search_spot_at(pose, &spots[n], spots[n].q);
        spots[n].length = db_length(spots[n].q);
    }
}

void db_search_frame(const double u[3], const double v[3], double axes[9]) {
    double normal[3], side[3];
    db_cross(u, v, normal);
    db_cross(normal, u, side);
    const double lengths[3] = { db_length(u), db_length(side), db_length(normal) };
    for (int i = 0; i < 3; i++) {
        axes[3 * i] = u[i] / lengths[0];
        axes[3 * i + 1] = side[i] / lengths[1];
        axes[3 * i + 2] = normal[i] / lengths[2];
    }
}

static double score_at(const void *list, size_t size, size_t at) {
    return *(const double *)((const char *)list + at * size);
}

size_t db_search_keep(const void *item, size_t size, void *list, size_t count, size_t most) {
    const double score = score_at(item, size, 0);
    char *const items = list;
    size_t at = count < most ? count : most - 1;
    if (at < count && score <= score_at(list, size, at)) return count;
    for (; at > 0 && score_at(list, size, at - 1) < score; at--)
        memcpy(items + at * size, items + (at - 1) * size, size);
    memcpy(items + at * size, item, size);
    return count < most ? count + 1 : most;
}

db_agreement db_search_agreement(const db_search_lattice *lattice, const db_search_pose *pose,
                                 double times, double angle, const db_search_spot *spots,
                                 size_t count, unsigned char *near) {
    db_agreement a = { 0 };
    double a_star[9], to_index[9], q[3], node[3];
    db_search_lattice_turn(lattice, pose->turn, a_star, to_index);
    for (size_t n = 0; n < count; n++) {
        const double limit = times * db_search_tolerance(&spots[n], angle),
                     by_chance = db_search_chance(lattice, limit);
        if (near) near[n] = 0;
        if (by_chance >= 0.5) continue;
        db_search_spot_at(pose, &spots[n], q);
        const int is_near = db_search_nearest(a_star, to_index, q, node) < limit;
        if (near) near[n] = (unsigned char)is_near;
        a.count++;
        a.near += (size_t)is_near;
        a.by_chance += by_chance;
        a.score -= is_near ? log(by_chance) : 0;
    }
    return a;
}

/* ln of the probability of n or more, where a mean is expected; of probabilities that no number holds, too: they are a geometric
 * series, as n is far above the mean. */
static double log_poisson_tail(size_t n, double mean) {
    const double tail = gsl_cdf_poisson_Q((unsigned)n - 1, mean), first = (double)n;
    if (tail > DBL_MIN) return log(tail);
    return first * log(mean) - mean - lgamma(first + 1) - log1p(-mean / (first + 1));
}

double db_agreement_log_probability(const db_agreement *a) {
    if (a->near == 0) return 0;
    return fmin(0, a->tried + log_poisson_tail(a->near, a->by_chance));
}

int db_agreement_is_better(const db_agreement *one, const db_agreement *other) {
    const double ahead = db_agreement_log_probability(other) - db_agreement_log_probability(one);
    return ahead > 0 || (ahead >= 0 && one->score > other->score);
}

int db_agreement_is_sure(const db_agreement *agreement) {
    return db_agreement_log_probability(agreement) < -DB_CERTAIN &&
           2 * agreement->near > agreement->count;
}
