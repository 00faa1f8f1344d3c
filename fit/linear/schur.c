/* Elimination of the local quantities of shots: Schur complements. */
#include "fit/linear/schur.h"

#include "loss/eliminate.h"

#include <string.h>

/* Variables are in the order of the settings, followed by motions of groups (db_variables_make). */
static int is_variable(const db_fit_settings *settings, int stage, size_t i, int motion) {
    const db_fit_parameter *const p = &settings->parameters[i];
    return !db_fit_parameter_is_tied(p) && db_fit_parameter_in_stage(p, (size_t)stage) &&
           (p->group >= 0) == motion;
}

db_schur_order db_schur_order_make(const db_fit_settings *settings, int stage,
                                   const unsigned char *shared) {
    db_schur_order order;
    memset(&order, 0, sizeof order);
    for (int local = 0; local < 2; local++) {
        size_t variable = 0;
        for (int motion = 0; motion < 2; motion++) {
            for (size_t i = 0; i < settings->parameter_count; i++) {
                if (!is_variable(settings, stage, i, motion)) continue;
                const size_t at = order.shared + order.local, k = variable++;
                if ((shared[i] == 0) != (local == 1)) continue;
                order.variable[at] = k;
                order.index[at] = i;
                *(local ? &order.local : &order.shared) += 1;
            }
        }
    }
    return order;
}

size_t db_schur_tail_size(const db_schur_order *order) {
    return order->local * (order->shared + order->local + 1);
}

db_schur_tail db_schur_tail_in(const db_schur_order *order, double *memory) {
    return (db_schur_tail){ memory, memory + order->local * (order->shared + order->local) };
}

int db_schur_is_left_out(const db_schur_order *order, const db_schur_tail *tail, size_t i) {
    const size_t s = order->shared;
    return !(tail->row[i * (s + order->local) + s + i] > 0);
}

size_t db_schur_sums_size(size_t shared) { return 1 + shared + shared * (shared + 1) / 2; }

size_t db_schur_work_size(const db_schur_order *order) {
    const size_t n = order->shared + order->local;
    return n * (n + 1);
}

/* Reorders the matrix: shared quantities first, without held ones. */
static void arrange(const db_schur_order *order, const double *gradient, const double *normal,
                    const int *held, double *g, double *m) {
    const size_t n = order->shared + order->local;
    for (size_t i = 0; i < n; i++) {
        const size_t a = order->variable[i];
        const int rests = i >= order->shared && held[a];
        g[i] = rests ? 0 : gradient[a];
        for (size_t j = 0; j < n; j++) {
            const size_t b = order->variable[j];
            m[i * n + j] = rests || (j >= order->shared && held[b]) ? 0 : normal[a * n + b];
        }
    }
}

void db_schur_reduce(const db_schur_order *order, double loss, const double *gradient,
                     const double *normal, const int *held, db_schur_tail *tail, double *sums,
                     double *work) {
    const size_t s = order->shared, n = s + order->local;
    double *const g = work;
    double *const m = work + n;
    arrange(order, gradient, normal, held, g, m);
    sums[0] += loss - db_eliminate(n, s, g, m, n);
    for (size_t i = 0, at = 1 + s; i < s; i++) {
        sums[1 + i] += g[i];
        for (size_t j = 0; j <= i; j++) sums[at++] += m[i * n + j];
    }
    memcpy(tail->row, m + s * n, order->local * n * sizeof *tail->row);
    memcpy(tail->gradient, g + s, order->local * sizeof *tail->gradient);
}

void db_schur_answer(const db_schur_order *order, const db_schur_tail *tail, int at_rest,
                     double *step) {
    const size_t s = order->shared, n = s + order->local;
    for (size_t i = 0; i < order->local; i++)
        step[s + i] =
            db_eliminated_step(tail->row + i * n, s + i, at_rest ? 0 : tail->gradient[i], step);
}

void db_schur_total(size_t shared, const double *sums, double *loss, double *gradient,
                    double *normal) {
    *loss = sums[0];
    for (size_t i = 0, at = 1 + shared; i < shared; i++) {
        gradient[i] = sums[1 + i];
        for (size_t j = 0; j <= i; j++)
            normal[i * shared + j] = normal[j * shared + i] = sums[at++];
    }
}
