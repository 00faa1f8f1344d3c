/* Score tests of further unknowns. */
#include "fit/linear/score.h"

#include "base/context_internal.h"
#include "fit/linear/cholesky.h"
#include "fit/linear/schur.h"

#include <stdlib.h>

/* Least part of a diagonal for sums of single precision: less is left if the unknowns do what a further one does. */
static const double DETERMINED_SINGLE = 1e-5;

/* Steps of the unknowns that follow the further ones: minus N^-1 times a column beside them, or their slopes. */
static void answer_steps(const db_score_equations *e, const double *factor, double *x,
                         db_score *score) {
    const size_t n = e->unknowns, all = n + e->further, width = e->further + 1;
    for (size_t k = 0; k < width; k++) {
        for (size_t i = 0; i < n; i++)
            x[i] = k < e->further ? e->normal[i * all + n + k] : e->slope[i];
        db_cholesky_solve(n, factor, x);
        for (size_t i = 0; i < n; i++) score->answer[i * width + k] = -x[i];
    }
}

/* Sum over the unknowns of an answer times a value of each, in room. */
static double answer_dot(const db_score *score, size_t n, size_t k, const double *room) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += score->answer[i * (score->further + 1) + k] * room[i];
    return sum;
}

/* T V T' with T = (answer', 1). */
static void reduce_scatter(const db_score_equations *e, const db_score *score,
                           const double *triangle, double *room, double *to) {
    const size_t n = e->unknowns, further = e->further;
    for (size_t k = 0; k < further; k++) {
        for (size_t i = 0; i < n + further; i++) {
            room[i] = triangle[db_triangle_at(i, n + k)];
            for (size_t j = 0; j < n; j++)
                room[i] += score->answer[j * (further + 1) + k] * triangle[db_triangle_at(i, j)];
        }
        for (size_t l = 0; l < further; l++)
            to[k * further + l] = room[n + l] + answer_dot(score, n, l, room);
    }
}

static void eliminate_unknowns(const db_score_equations *e, double *factor, double *room,
                               db_score *score) {
    const size_t n = e->unknowns, further = e->further, all = n + further;
    db_cholesky_factor(n, e->normal, all, 0, e->held, DB_LEAST_FOR_VARIANCE, factor);
    answer_steps(e, factor, room, score);
    for (size_t k = 0; k < further; k++) {
        const double *const row = e->normal + (n + k) * all;
        score->slope[k] = e->slope[n + k] + answer_dot(score, n, further, row);
        for (size_t l = 0; l < further; l++) {
            score->held_normal[k * further + l] = row[n + l];
            score->normal[k * further + l] = row[n + l] + answer_dot(score, n, l, row);
        }
    }
    for (int v = 0; v < DB_SCORE_SCATTERS; v++)
        reduce_scatter(e, score, e->scatter[v], room, score->scatter[v]);
}

db_status db_score_make(db_context *context, const db_score_equations *e, db_score *score) {
    const size_t n = e->unknowns, further = e->further, square = further * further;
    *score = (db_score){ .further = further };
    double *const factor = malloc((n * n + n + further + 1) * sizeof *factor);
    score->slope = calloc(further + (2 + DB_SCORE_SCATTERS) * square + n * (further + 1) + 1,
                          sizeof *score->slope);
    if (factor && score->slope) {
        score->normal = score->slope + further;
        for (int v = 0; v < DB_SCORE_SCATTERS; v++)
            score->scatter[v] = score->normal + (size_t)(v + 1) * square;
        score->held_normal = score->normal + (1 + DB_SCORE_SCATTERS) * square;
        score->answer = score->held_normal + square;
        eliminate_unknowns(e, factor, factor + n * n, score);
    }
    const int is_made = factor && score->slope;
    free(factor);
    if (is_made) return DB_OK;
    db_score_clear(score);
    return db_fail_memory(context, "a score test");
}

void db_score_clear(db_score *score) {
    free(score->slope);
    *score = (db_score){ .further = 0 };
}

/* m' A m', of rows of mix. */
static void mix_matrix(size_t count, size_t further, const double *mix, const double *matrix,
                       double to[DB_SCORE_MOST * DB_SCORE_MOST]) {
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            double sum = 0;
            for (size_t k = 0; k < further; k++)
                for (size_t l = 0; l < further; l++)
                    sum += mix[a * further + k] * matrix[k * further + l] * mix[b * further + l];
            to[a * count + b] = sum;
        }
}

/* Chance of one scatter: the larger one counts, for errors and for the mean fall. */
static double take_chance(size_t count, const double *factor, const double *scatter,
                          double error[DB_SCORE_MOST]) {
    double chance = 0;
    for (size_t a = 0; a < count; a++) {
        double x[DB_SCORE_MOST] = { 0 }, variance = 0;
        x[a] = 1;
        db_cholesky_solve(count, factor, x);
        for (size_t i = 0; i < count; i++) {
            chance += x[i] * scatter[a * count + i];
            for (size_t j = 0; j < count; j++) variance += x[i] * x[j] * scatter[i * count + j];
        }
        error[a] = fmax(error[a], sqrt(fmax(0, variance)));
    }
    return chance;
}

db_score_rival db_score_of(const db_score *score, size_t count, const double *mix) {
    db_score_rival rival = { .count = count };
    double normal[DB_SCORE_MOST * DB_SCORE_MOST], factor[DB_SCORE_MOST * DB_SCORE_MOST],
        scatter[DB_SCORE_MOST * DB_SCORE_MOST], x[DB_SCORE_MOST] = { 0 }, chance = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t k = 0; k < score->further; k++)
            x[a] += mix[a * score->further + k] * score->slope[k];
    mix_matrix(count, score->further, mix, score->normal, normal);
    mix_matrix(count, score->further, mix, score->held_normal, scatter);
    db_cholesky_factor(count, normal, count, 0, NULL, DETERMINED_SINGLE, factor);
    for (size_t a = 0; a < count; a++)
        if (!(factor[a * count + a] > 0) ||
            !(normal[a * count + a] > DETERMINED_SINGLE * scatter[a * count + a]))
            return (db_score_rival){ .count = 0 };
    db_cholesky_forward(count, factor, x);
    for (size_t a = 0; a < count; a++) rival.fall += x[a] * x[a];
    db_cholesky_back(count, factor, x);
    for (size_t a = 0; a < count; a++) rival.step[a] = -x[a];
    for (int v = 0; v < DB_SCORE_SCATTERS; v++) {
        mix_matrix(count, score->further, mix, score->scatter[v], scatter);
        chance = fmax(chance, take_chance(count, factor, scatter, rival.error));
    }
    rival.square = (double)count * rival.fall / chance;
    return rival;
}
