/* Linearizations of open shots. */
#include "fit/shots/linearize.h"

#include "fit/objective/evaluate.h"

size_t db_moving_quantities(const db_fit_settings *settings, const size_t *index, size_t count) {
    unsigned char motion[DB_PARAMETER_COUNT] = { 0 };
    size_t moving = 0;
    for (size_t i = 0; i < count; i++) {
        const db_fit_parameter *const p = &settings->parameters[index[i]];
        moving += p->group < 0 || !motion[p->parameter];
        if (p->group >= 0) motion[p->parameter] = 1;
    }
    return moving;
}

static void fill_box(const db_objective *o, const size_t *place, size_t b,
                     const db_linearization *s) {
    const size_t most = s->most;
    size_t list[DB_BLOCK_MOST];
    const size_t m = db_objective_block_variables(o, b, list), stride = m + DB_LINEAR;
    const double *const slope = db_objective_block_gradient(o, b);
    const double *const normal = db_objective_block_normal(o, b);
    float *to = s->normal + b * (most * (most + 1) / 2);
    s->moved[b] = (uint16_t)m;
    for (size_t k = 0; k < m; k++) {
        s->place[b * most + k] = (uint16_t)place[list[k]];
        s->slope[b * most + k] = (float)(0.5 * slope[k]);
        s->mixed[b * most + k] = (float)normal[m * stride + k];
        for (size_t l = 0; l <= k; l++) *to++ = (float)normal[k * stride + l];
    }
    s->intensity[b] = (float)o->solution[b].linear[0];
    s->loss[b] = (float)o->solution[b].loss;
    s->pull[b] = (float)(0.5 * slope[m]);
    s->curvature[b] = (float)normal[m * stride + m];
}

void db_shot_linearize(const db_open_shot *open, const db_schur_order *order,
                       const db_linearization *linearization) {
    size_t place[DB_FIT_MOST_PARAMETERS]; /* place of each variable: local quantities first */
    for (size_t i = 0; i < order->local; i++) place[order->variable[order->shared + i]] = i;
    for (size_t i = 0; i < order->shared; i++) place[order->variable[i]] = order->local + i;
    for (size_t b = 0; b < linearization->count; b++)
        fill_box(&open->objective, place, b, linearization);
}
