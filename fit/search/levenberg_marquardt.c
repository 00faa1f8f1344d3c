/* Damped Gauss-Newton steps; each is the best one within bounds, found by an active set. */
#include "fit/search/levenberg_marquardt.h"

#include "loss/eliminate.h"

#include <math.h>
#include <string.h>

typedef struct box {
    size_t count;
    const double *gradient;
    const double *normal;
    const double *scale;
    const double *lower;
    const double *upper;
    double damping;
    double *step;
    double *held; /* -1, 1: at its lower, upper bound; 0: free */
    double *move;
    double *slope;
    double *solution;
    double *matrix;
} box;

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
        b->move[i] = b->solution[k] =
            db_eliminated_step(b->matrix + k * n, k, b->slope[k], b->solution);
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

/* Frees the unknown that gains most by leaving its bound, measured in units of its own diagonal. 0: none gains. */
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

static double promised(const box *b) {
    double sum = 0;
    for (size_t i = 0; i < b->count; i++) {
        sum -= b->gradient[i] * b->step[i];
        for (size_t j = 0; j < b->count; j++)
            sum -= b->step[i] * b->normal[i * b->count + j] * b->step[j];
    }
    return sum;
}

size_t db_box_room(size_t count) { return count * (count + 4); }

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
    return promised(&b);
}

/* The model at a point. */
typedef struct point {
    double *x;
    double *gradient;
    double *normal;
    double loss;
} point;

typedef struct search {
    const db_lm_problem *problem;
    point here, there;
    double *scale; /* of the damping: remembers large diagonals, less and less */
    double *step;
    double *lower;
    double *upper;
    double *box; /* memory of a step */
    double damping, growth;
    int evaluations;
    int rejected; /* steps in a row */
} search;

/* Damping of a step that counts as free: so small, but not 0, that combinations of unknowns which
 * the data do not determine to four digits of a single one's error promise nothing. */
static const double FREE_DAMPING = 1e-9;

static size_t point_room(size_t n) { return n * (n + 2); }

size_t db_lm_room(size_t count) { return 2 * point_room(count) + 5 * count + db_box_room(count); }

static point lay_out_point(size_t n, double *memory) {
    return (point){ memory, memory + n, memory + 2 * n, 0 };
}

static int finite_point(size_t n, const point *p) {
    double sum = p->loss;
    for (size_t i = 0; i < n * (n + 1); i++) sum += fabs(p->gradient[i]); /* and normal */
    return isfinite(sum);
}

static int evaluate_point(search *s, point *p) {
    const db_lm_problem *const problem = s->problem;
    s->evaluations++;
    return problem->evaluate(problem->user, p->x, &p->loss, p->gradient, p->normal) == 0;
}

static void update_scale(search *s) {
    const size_t n = s->problem->count;
    for (size_t i = 0; i < n; i++) s->scale[i] = fmax(0.1 * s->scale[i], s->here.normal[i * n + i]);
}

/* A damped step from here, no longer than the longest. */
static double damped_step(search *s) {
    const db_lm_problem *const problem = s->problem;
    for (size_t i = 0; i < problem->count; i++) {
        const double part = problem->part ? problem->part[i] * fabs(s->here.x[i]) : 0,
                     most = fmax(problem->longest[i], part);
        s->lower[i] = fmax(fmin(problem->lower[i] - s->here.x[i], 0), -most);
        s->upper[i] = fmin(fmax(problem->upper[i] - s->here.x[i], 0), most);
    }
    return db_box_step(problem->count, s->here.gradient, s->here.normal, s->damping, s->scale,
                       s->lower, s->upper, s->step, s->box);
}

double db_lm_free_promise(size_t n, const double *x, const double *lower, const double *upper,
                          const double *gradient, const double *normal, double *memory) {
    double *const least = memory;
    double *const most = least + n;
    double *const step = most + n;
    double *const diagonal = step + n;
    for (size_t i = 0; i < n; i++) {
        least[i] = fmin(lower[i] - x[i], 0);
        most[i] = fmax(upper[i] - x[i], 0);
        diagonal[i] = normal[i * n + i];
    }
    return db_box_step(n, gradient, normal, FREE_DAMPING, diagonal, least, most, step,
                       diagonal + n);
}

static double free_promise(search *s) {
    const db_lm_problem *const p = s->problem;
    return db_lm_free_promise(p->count, s->here.x, p->lower, p->upper, s->here.gradient,
                              s->here.normal, s->step);
}

double db_lm_step_length(double promise, double loss, double degrees) {
    return sqrt(fmax(0, promise) / fmax(1, loss / degrees));
}

static int converged(const search *s, double promise) {
    const db_lm_problem *const problem = s->problem;
    return promise <= problem->tolerance * fabs(s->here.loss) ||
           db_lm_step_length(promise, s->here.loss, problem->degrees) <= problem->step;
}

static void accept_step(search *s) {
    const point left = s->here;
    s->here = s->there;
    s->there = left;
    update_scale(s);
}

/* Adapts the damping after a step with a fraction `gain` of the promised decrease. */
static void adapt(search *s, double gain) {
    const double first = 1e-3;
    if (gain > 0) {
        const double bend = 2 * gain - 1;
        s->damping *= fmax(0.1, 1 - bend * bend * bend);
        s->damping = fmax(s->damping, FREE_DAMPING);
        s->growth = 4;
    } else {
        s->damping = fmax(s->damping, first) * s->growth;
        s->growth *= 2;
    }
}

/* Tries a damped step. 0: the search is over. */
static int advance(search *s, db_lm_end *end) {
    const double most = 1e10, rounding = 1e-6; /* of a loss summed over images of floats */
    const int patience = 3;
    const db_lm_problem *const problem = s->problem;
    const double promise = damped_step(s);
    for (size_t i = 0; i < problem->count; i++) {
        const double x = s->here.x[i] + s->step[i];
        s->there.x[i] = fmin(fmax(x, problem->lower[i]), problem->upper[i]);
    }
    if (!evaluate_point(s, &s->there)) {
        *end = DB_LM_STOPPED;
        return 0;
    }
    const double decrease = s->here.loss - s->there.loss;
    const int better = finite_point(problem->count, &s->there) && decrease > 0;
    adapt(s, better ? fmin(decrease / promise, 1) : 0);
    if (better) accept_step(s);
    s->rejected = better ? 0 : s->rejected + 1;
    *end = DB_LM_NO_PROGRESS;
    return better || (s->damping < most && promise > 1e-15 * fabs(s->here.loss) &&
                      (s->rejected < patience || promise > rounding * fabs(s->here.loss)));
}

static db_lm_end run_steps(search *s, double *promise) {
    db_lm_end end = DB_LM_STOPPED;
    if (!evaluate_point(s, &s->here) || !finite_point(s->problem->count, &s->here)) return end;
    update_scale(s);
    do {
        *promise = free_promise(s);
        if (converged(s, *promise)) return DB_LM_CONVERGED;
        if (s->evaluations >= s->problem->most_evaluations) return DB_LM_LIMIT;
    } while (advance(s, &end));
    *promise = free_promise(s);
    return end;
}

db_lm_result db_lm_minimize(const db_lm_problem *problem, double *x, double *memory) {
    const size_t n = problem->count;
    search s = { .problem = problem, .damping = 1e-2, .growth = 4 };
    memset(memory, 0, db_lm_room(n) * sizeof *memory);
    s.here = lay_out_point(n, memory);
    s.there = lay_out_point(n, memory + point_room(n));
    s.scale = memory + 2 * point_room(n);
    s.step = s.scale + n;
    s.lower = s.step + n;
    s.upper = s.lower + n;
    s.box = s.upper + 2 * n;
    memcpy(s.here.x, x, n * sizeof *x);
    db_lm_result result = { .promise = INFINITY };
    result.end = run_steps(&s, &result.promise);
    result.evaluations = s.evaluations;
    result.loss = s.here.loss;
    memcpy(x, s.here.x, n * sizeof *x);
    return result;
}
