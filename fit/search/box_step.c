/* Steps within bounds by an active set. */
#include "fit/search/box_step.h"

#include "fit/objective/eliminate.h"

#include <math.h>
#include <string.h>

typedef struct box {
    size_t count;
    const double *gradient, *normal, *scale, *lower, *upper;
    double damping;
    double *step;
    double *held; /* -1, 1: at its lower, upper bound; 0: free */
    double *move, *slope, *solution, *matrix;
} box;

size_t db_box_room(size_t count) { return count * (count + 4); }

static int is_held(const box *b, size_t i) { return b->held[i] < 0 || b->held[i] > 0; }

static double element(const box *b, size_t i, size_t j) {
    return b->normal[i * b->count + j] + (i == j ? b->damping * b->scale[i] : 0);
}

/* Half the slope of the damped model at the present step. */
static double half_slope(const box *b, size_t i) {
    double sum = 0.5 * b->gradient[i];
    for (size_t j = 0; j < b->count; j++) sum += element(b, i, j) * b->step[j];
    return sum;
}

/* The step from here to the minimum over the free unknowns, without bounds. */
static void free_move(const box *b) {
    size_t n = 0, a = 0;
    for (size_t i = 0; i < b->count; i++) n += !is_held(b, i);
    for (size_t i = 0; i < b->count; i++) {
        b->move[i] = 0;
        if (is_held(b, i)) continue;
        b->slope[a] = 2 * half_slope(b, i);
        for (size_t j = 0, c = 0; j <= i; j++)
            if (!is_held(b, j)) b->matrix[a * n + c++] = element(b, i, j);
        a++;
    }
    db_eliminate(n, 0, b->slope, b->matrix, n);
    for (size_t i = 0, k = 0; i < b->count; i++) {
        if (is_held(b, i)) continue;
        b->move[i] = b->solution[k] = db_eliminated_step(k, b->slope, b->matrix, n, b->solution);
        k++;
    }
}

/* Follows the move up to the first bound that stops it, where that unknown is held. 0: none did. */
static int move_to_bound(box *b) {
    const double *const move = b->move;
    double part = 1;
    size_t stop = b->count;
    for (size_t i = 0; i < b->count; i++) {
        if (is_held(b, i) || !(move[i] < 0 || move[i] > 0)) continue;
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

/* Frees the unknown that gains most by leaving its bound, each in units of its own diagonal. 0: none
 * gains. */
static int free_bound(box *b) {
    size_t worst = b->count;
    double most = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (!is_held(b, i)) continue;
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
                   const double *scale, const double *lower, const double *upper, double *step,
                   double *memory) {
    box b = { count,
              gradient,
              normal,
              scale,
              lower,
              upper,
              damping,
              step,
              memory,
              memory + count,
              memory + 2 * count,
              memory + 3 * count,
              memory + 4 * count };
    memset(step, 0, count * sizeof *step);
    for (size_t i = 0; i < count; i++) {
        b.held[i] = 0;
        if (lower[i] >= 0 && gradient[i] >= 0) b.held[i] = -1;
        if (upper[i] <= 0 && gradient[i] <= 0) b.held[i] = 1;
    }
    for (size_t round = 0; round < 4 * count + 10; round++) {
        free_move(&b);
        if (move_to_bound(&b)) continue;
        if (!free_bound(&b)) break;
    }
    return promise(&b);
}
