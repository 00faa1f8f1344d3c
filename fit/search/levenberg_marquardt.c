/* Damped Gauss-Newton steps within bounds. */
#include "fit/search/levenberg_marquardt.h"

#include <math.h>
#include <string.h>

/* The model at a point. */
typedef struct point {
    double *x, *gradient, *normal, loss;
} point;

typedef struct search {
    const db_lm_problem *problem;
    point here, there;
    double *diagonal; /* of the normal matrix here */
    double *scale;    /* of the damping: large diagonals met before count, but less and less */
    double *step, *lower, *upper;
    double *box; /* memory of a step */
    double damping, growth;
    int evaluations;
    int rejected; /* steps in a row */
} search;

const double db_lm_free_damping = 1e-9;

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

static int evaluate(search *s, point *p) {
    const db_lm_problem *const problem = s->problem;
    s->evaluations++;
    return problem->evaluate(problem->user, p->x, &p->loss, p->gradient, p->normal) == 0;
}

static void update_scale(search *s) {
    const size_t n = s->problem->count;
    for (size_t i = 0; i < n; i++) {
        s->diagonal[i] = s->here.normal[i * n + i];
        s->scale[i] = fmax(0.1 * s->scale[i], s->diagonal[i]);
    }
}

/* A step from here, of at most `part` of the longest. */
static double step_within(search *s, double damping, const double *scale, double part) {
    const db_lm_problem *const problem = s->problem;
    for (size_t i = 0; i < problem->count; i++) {
        const double most = part * problem->longest[i];
        s->lower[i] = fmax(fmin(problem->lower[i] - s->here.x[i], 0), -most);
        s->upper[i] = fmin(fmax(problem->upper[i] - s->here.x[i], 0), most);
    }
    return db_box_step(problem->count, s->here.gradient, s->here.normal, damping, scale, s->lower,
                       s->upper, s->step, s->box);
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

/* Damping after a step that brought `gain` of what was promised. */
static void adapt(search *s, double gain) {
    const double first = 1e-3;
    if (gain > 0) {
        const double bend = 2 * gain - 1;
        s->damping *= fmax(0.1, 1 - bend * bend * bend);
        s->damping = fmax(s->damping, db_lm_free_damping);
        s->growth = 4;
    } else {
        s->damping = fmax(s->damping, first) * s->growth;
        s->growth *= 2;
    }
}

/* Tries a damped step; 0: the search is over. */
static int advance(search *s, db_lm_end *end) {
    const double most = 1e10, rounding = 1e-6; /* of a loss summed over images of floats */
    const int patience = 3;
    const db_lm_problem *const problem = s->problem;
    const double promise = step_within(s, s->damping, s->scale, 1);
    for (size_t i = 0; i < problem->count; i++) {
        const double x = s->here.x[i] + s->step[i];
        s->there.x[i] = fmin(fmax(x, problem->lower[i]), problem->upper[i]);
    }
    if (!evaluate(s, &s->there)) {
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

static double free_promise(search *s) {
    return step_within(s, db_lm_free_damping, s->diagonal, INFINITY);
}

static db_lm_end run(search *s, double *promise) {
    db_lm_end end = DB_LM_STOPPED;
    if (!evaluate(s, &s->here) || !finite_point(s->problem->count, &s->here)) return end;
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
    s.diagonal = s.scale + n;
    s.step = s.diagonal + n;
    s.lower = s.step + n;
    s.upper = s.lower + n;
    s.box = s.upper + n;
    memcpy(s.here.x, x, n * sizeof *x);
    db_lm_result result = { .promise = INFINITY };
    result.end = run(&s, &result.promise);
    result.evaluations = s.evaluations;
    result.loss = s.here.loss;
    memcpy(x, s.here.x, n * sizeof *x);
    return result;
}
