/* Panels whose places many shots share: each shot adds equations for their shifts, from which its own quantities have been
 * eliminated, so that the sum is the equation of all shots whatever their number. */
#include "fit/verdict/panel_equations.h"

#include "base/context_internal.h"
#include "fit/linear/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHARED = 256 }; /* panels whose shifts shots share: their matrix has 2 Mbyte */

int db_panel_is_displaced(const db_displaced_panel *rival, double place, double most_errors) {
    const double far = 2;
    return hypot(rival->shift[0], rival->shift[1]) > far * place && rival->errors > most_errors;
}

db_panel_equations db_panel_equations_of(size_t panels, double pixel_size, size_t parameters) {
    db_panel_equations of = { .panels = panels,
                              .pixel_size = pixel_size,
                              .parameters = parameters };
    if (of.panels < 2 || of.panels > MOST_SHARED) return (db_panel_equations){ .panels = 0 };
    const size_t unknowns = 2 * of.panels + parameters + DB_ALWAYS_MOVING;
    of.size = unknowns * (unknowns + 1) + 2 * unknowns + of.panels + 4;
    return of;
}

db_panel_sums db_panel_sums_of(const db_panel_equations *of, double *sum) {
    const size_t m = 2 * of->panels + of->parameters + DB_ALWAYS_MOVING, triangle = m * (m + 1) / 2;
    double *const rest = sum + 2 * triangle + 2 * m + of->panels;
    return (db_panel_sums){ m,
                            sum,
                            sum + triangle,
                            sum + triangle + m,
                            sum + 2 * triangle + m,
                            sum + 2 * triangle + 2 * m,
                            rest,
                            rest + 1,
                            rest + 2,
                            rest + 3 };
}

/* The best unknowns, shifts only of some panels; returns what they lower the loss by. room: [2][unknowns][unknowns] */
static double solve_unknowns(const db_panel_sums *sums, size_t panels, const unsigned char *shifts,
                             double *room, double *x) {
    const size_t m = sums->unknowns;
    double gain = 0;
    for (size_t i = 0; i < m; i++) {
        const int is_in = i < 2 * panels ? shifts[i / 2] : sums->usual[i] > 0;
        for (size_t j = 0; j <= i; j++) {
            const int both = is_in && (j < 2 * panels ? shifts[j / 2] : sums->usual[j] > 0);
            room[i * m + j] = room[j * m + i] = both ? sums->matrix[i * (i + 1) / 2 + j] : 0;
        }
        room[i * m + i] += is_in ? pow(*sums->shots / sums->usual[i], 2) : 1;
        x[i] = is_in ? -sums->slope[i] : 0;
    }
    db_cholesky_factor(m, room, m, 0, NULL, DB_LEAST_FOR_STEP, room + m * m);
    db_cholesky_solve(m, room + m * m, x);
    for (size_t i = 0; i < m; i++) gain -= 0.5 * sums->slope[i] * x[i];
    return gain;
}

/* Panels with many spots shift, except the one with most; returns their number. */
static size_t choose_shifting(const db_panel_sums *sums, size_t panels, unsigned char *shifts) {
    size_t most = 0, found = 0;
    for (size_t p = 1; p < panels; p++)
        if (sums->on[p] > sums->on[most]) most = p;
    for (size_t p = 0; p < panels; p++) {
        shifts[p] = p != most && sums->on[p] >= DB_FEWEST_ON_PANEL;
        found += shifts[p];
    }
    return found;
}

/* Beam centre and tilts only say where the detector stands: displaced panels have no right ones. */
static int tells_place(db_parameter p) {
    return db_moves_beam(p) || p == DB_DETECTOR_ROTX || p == DB_DETECTOR_ROTY ||
           p == DB_DETECTOR_ROTZ;
}

/* Error of an unknown where panels shift. factor: of the matrix of the shifts that were solved for; room: [unknowns] */
static double error_beside_shifts(const db_panel_sums *sums, const double *factor, size_t unknown,
                                  double *room) {
    memset(room, 0, sums->unknowns * sizeof *room);
    room[unknown] = 1;
    db_cholesky_solve(sums->unknowns, factor, room);
    return sqrt(fmax(0, room[unknown]));
}

/* The quantity that moves by most of its errors: a shared one, or the shots' own together (root mean square). A displaced panel
 * has widened the errors of the model, behind which it must not hide: of a shared quantity the smaller error counts, that of the
 * model or that beside shifts. */
static void find_farthest_move(const db_panel_sums *sums, size_t panels, const double *by,
                               const db_fit_estimates *estimates, const double *factor,
                               double *room, db_displaced_panel *rival) {
    double square = 0;
    for (size_t i = 0; i < sums->unknowns; i++)
        for (size_t j = 0; j <= i; j++)
            square += (i == j ? 1 : 2) * sums->own[i * (i + 1) / 2 + j] * by[i] * by[j];
    rival->errors = *sums->owned > 0 ? sqrt(square / *sums->owned) : 0;
    rival->name = "the shots' own quantities";
    for (size_t k = 0; k < estimates->count; k++) {
        const db_fit_estimate *const one = &estimates->list[k];
        if (!one->shared || tells_place(one->parameter)) continue;
        const double beside = error_beside_shifts(sums, factor, 2 * panels + k, room),
                     errors = fabs(by[2 * panels + k]) / fmin(one->error, beside);
        if (!(errors > rival->errors) || !isfinite(errors)) continue;
        rival->errors = errors;
        rival->name = one->name;
    }
}

db_status db_panel_equations_solve(db_context *context, const db_panel_equations *of,
                                   const double *sum, const db_fit_estimates *estimates,
                                   db_displaced_panel *rival, double *place) {
    double *const own = malloc(of->size * sizeof *own);
    *rival = (db_displaced_panel){ .margin = NAN };
    if (!own) return db_fail_memory(context, "displaced panels");
    memcpy(own, sum, of->size * sizeof *own);
    const db_panel_sums sums = db_panel_sums_of(of, own);
    const size_t m = sums.unknowns;
    unsigned char shifts[MOST_SHARED], none[MOST_SHARED] = { 0 };
    const size_t moving = choose_shifting(&sums, of->panels, shifts);
    double *const room = malloc((2 * m * m + 2 * m) * sizeof *room);
    const db_status status = db_need_memory(context, room, "displaced panels");
    if (status == DB_OK && *sums.shots > 0 && moving) {
        double *const kept = room + 2 * m * m, *const x = kept + m;
        double farthest = -1;
        const double before = solve_unknowns(&sums, of->panels, none, room, kept),
                     after = solve_unknowns(&sums, of->panels, shifts, room, x);
        rival->margin = before - after + (double)moving * log(*sums.spots);
        *place = sqrt(*sums.squares / *sums.spots);
        for (size_t p = 0; p < of->panels; p++) {
            if (!(hypot(x[2 * p], x[2 * p + 1]) > farthest)) continue;
            farthest = hypot(x[2 * p], x[2 * p + 1]);
            rival->panel = (int)p;
            memcpy(rival->shift, x + 2 * p, sizeof rival->shift);
        }
        for (size_t i = 0; i < m; i++) x[i] -= kept[i];
        find_farthest_move(&sums, of->panels, x, estimates, room + m * m, kept, rival);
    }
    free(room);
    free(own);
    return status;
}
