#include "fit/box_step.h"

#include "fit/eliminate.h"

#include <math.h>
#include <string.h>

typedef struct box {
    size_t count;
    const double *gradient, *normal, *scale, *lower, *upper;
    double damping;
    int held[DB_BOX_MOST]; /* -1, 1: at its lower, upper bound; 0: free */
    double *step;
} box;

static double element(const box *b, size_t i, size_t j) {
    return b->normal[i * b->count + j] + (i == j ? b->damping * b->scale[i] : 0);
}

/* Half the slope of the damped model at the present step. */
static double half_slope(const box *b, size_t i) {
    double sum = 0.5 * b->gradient[i];
    for (size_t j = 0; j < b->count; j++) sum += element(b, i, j) * b->step[j];
    return sum;
}

/* How far, and where to, the free unknowns would go from here if nothing stopped them. */
static void free_move(const box *b, double *move) {
    size_t list[DB_BOX_MOST], n = 0;
    double slope[DB_BOX_MOST], matrix[DB_BOX_MOST * DB_BOX_MOST], solution[DB_BOX_MOST];
    for (size_t i = 0; i < b->count; i++) {
        move[i] = 0;
        if (b->held[i]) continue;
        slope[n] = 2 * half_slope(b, i);
        list[n++] = i;
    }
    for (size_t a = 0; a < n; a++)
        for (size_t c = 0; c <= a; c++) matrix[a * n + c] = element(b, list[a], list[c]);
    db_eliminate(n, 0, slope, matrix, n);
    for (size_t a = 0; a < n; a++)
        move[list[a]] = solution[a] = db_eliminated_step(a, slope, matrix, n, solution);
}

/* Goes along the move until a bound stops it, and holds there. Returns whether one did. */
static int go(box *b, const double *move) {
    double part = 1;
    size_t stop = b->count;
    for (size_t i = 0; i < b->count; i++) {
        if (b->held[i] || !(move[i] < 0 || move[i] > 0)) continue;
        const double room = (move[i] < 0 ? b->lower[i] : b->upper[i]) - b->step[i];
        if (room / move[i] >= part) continue;
        part = fmax(0, room / move[i]);
        stop = i;
    }
    for (size_t i = 0; i < b->count; i++) b->step[i] += part * move[i];
    if (stop == b->count) return 0;
    b->held[stop] = move[stop] < 0 ? -1 : 1;
    b->step[stop] = move[stop] < 0 ? b->lower[stop] : b->upper[stop];
    return 1;
}

/* Releases the bound that costs most (in units in which every unknown counts alike). */
static int release(box *b) {
    size_t worst = b->count;
    double most = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (!b->held[i]) continue;
        const double diagonal = element(b, i, i);
        const double pull = -b->held[i] * -half_slope(b, i) / sqrt(diagonal > 0 ? diagonal : 1);
        if (pull <= most * (1 + 1e-12) || !(b->upper[i] > b->lower[i])) continue;
        most = pull;
        worst = i;
    }
    if (worst == b->count) return 0;
    b->held[worst] = 0;
    return 1;
}

static double promise(const box *b) {
    double sum = 0;
    for (size_t i = 0; i < b->count; i++) {
        sum -= b->gradient[i] * b->step[i];
        for (size_t j = 0; j < b->count; j++)
            sum -= b->step[i] * b->normal[i * b->count + j] * b->step[j];
    }
    return sum;
}

double db_box_step(size_t count, const double *gradient, const double *normal, double damping,
                   const double *scale, const double *lower, const double *upper, double *step) {
    box b = { count, gradient, normal, scale, lower, upper, damping, { 0 }, step };
    double move[DB_BOX_MOST];
    memset(step, 0, count * sizeof *step);
    for (size_t i = 0; i < count; i++) {
        if (lower[i] >= 0 && gradient[i] >= 0) b.held[i] = -1;
        if (upper[i] <= 0 && gradient[i] <= 0) b.held[i] = 1;
    }
    for (size_t round = 0; round < 4 * count + 10; round++) {
        free_move(&b, move);
        if (go(&b, move)) continue;
        if (!release(&b)) break;
    }
    return promise(&b);
}
