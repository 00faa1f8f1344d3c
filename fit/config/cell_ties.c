/* Equal edges of a cell become ties, and angles that symmetry fixes leave the refinement. */
#include "fit/config/cell_ties.h"

#include "base/context_internal.h"
#include "fit/config/config_refine.h"
#include "fit/config/crystal_system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const db_parameter cell_parameters[6] = { DB_CELL_A,     DB_CELL_B,    DB_CELL_C,
                                                 DB_CELL_ALPHA, DB_CELL_BETA, DB_CELL_GAMMA };

typedef struct tying {
    db_fit_config *config;
    const db_cell_ties *ties;
    void (*line)(void *user, const char *line);
    void *user;
} tying;

static const char *name_of(int i) { return db_parameter_describe(cell_parameters[i])->name; }

static size_t index_of(const db_fit_settings *settings, db_parameter p) {
    return db_fit_parameter_index(settings, db_fit_quantity_make(p, -1));
}

static void drop_parameter(db_fit_settings *s, size_t at) {
    const size_t after = s->parameter_count - at - 1;
    memmove(&s->parameters[at], &s->parameters[at + 1], after * sizeof s->parameters[0]);
    s->parameter_count--;
}

/* A fixed angle is not refined, whatever the configuration says. */
static void drop_fixed(const tying *t, int i) {
    char text[160];
    const size_t at = index_of(&t->config->settings, cell_parameters[i]);
    if (!(t->ties->fixed[i] > 0) || at == t->config->settings.parameter_count) return;
    drop_parameter(&t->config->settings, at);
    snprintf(text, sizeof text, "%s: not refined, %s fixes it at %g degree", name_of(i),
             t->ties->name, t->ties->fixed[i]);
    if (t->line) t->line(t->user, text);
}

/* Where only a follower is refined, its leader is, in its place. */
static db_status tie(db_context *context, const tying *t, int i) {
    db_fit_settings *const s = &t->config->settings;
    const int leader = t->ties->follows[i];
    if (leader < 0) return DB_OK;
    const db_parameter own = cell_parameters[i], first = cell_parameters[leader];
    size_t at = index_of(s, own), led = index_of(s, first);
    if (led == s->parameter_count) {
        if (at == s->parameter_count) return DB_OK;
        led = at;
        s->parameters[led].parameter = first;
        s->parameters[led].follows.number = -1;
        at = s->parameter_count;
    }
    db_fit_parameter p = db_fit_parameter_free(own);
    p.follows = db_fit_quantity_make(first, -1);
    p.stages = s->parameters[led].stages;
    if (at == s->parameter_count) return db_fit_settings_add_parameter(context, s, &p);
    p.line = s->parameters[at].line;
    s->parameters[at] = p;
    return DB_OK;
}

/* What was tied otherwise before: a follower of a follower, or of an angle that is fixed. */
static void untie(const tying *t) {
    db_fit_settings *const s = &t->config->settings;
    for (size_t k = 0; k < s->parameter_count; k++) {
        db_fit_parameter *const p = &s->parameters[k];
        if (!db_fit_parameter_is_tied(p)) continue;
        for (int i = 0; i < 6; i++)
            if (p->follows.number == db_fit_quantity_make(cell_parameters[i], -1).number &&
                t->ties->follows[i] >= 0)
                p->follows = db_fit_quantity_make(cell_parameters[t->ties->follows[i]], -1);
    }
}

static db_status regularize(db_context *context, const tying *t, db_experiment *start) {
    double cell[6], edge, angle;
    char text[320];
    const double *const was = start->crystal.cell;
    memcpy(cell, was, sizeof cell);
    db_cell_regularize(t->ties, cell, &edge, &angle);
    if (edge > DB_CELL_EDGE_TOLERANCE || angle > DB_CELL_ANGLE_TOLERANCE)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: model.symmetry: the starting cell %.6g %.6g %.6g %.6g %.6g %.6g "
                       "contradicts %s (%s): edges are off by up to %.2g %%, angles by up to %.2g "
                       "degree; expected at most %g %% and %g degree",
                       t->config->config_file, was[0], was[1], was[2], was[3], was[4], was[5],
                       t->config->symmetry, t->ties->name, 100 * edge, angle,
                       100 * DB_CELL_EDGE_TOLERANCE, DB_CELL_ANGLE_TOLERANCE);
    if (t->line && (edge > 1e-6 || angle > 1e-4)) {
        snprintf(
            text, sizeof text,
            "cell: made regular for %s (%s), %.6g %.6g %.6g  %.6g %.6g %.6g; edges were off by "
            "up to %.2g %%, angles by up to %.2g degree",
            t->config->symmetry, t->ties->name, cell[0], cell[1], cell[2], cell[3], cell[4],
            cell[5], 100 * edge, angle);
        t->line(t->user, text);
    }
    memcpy(start->crystal.cell, cell, sizeof cell);
    return DB_OK;
}

db_status db_fit_tie_cell(db_context *context, db_fit_config *config, db_experiment *start,
                          void (*notices)(void *user, const char *line), void *user) {
    if (!*config->symmetry) return DB_OK;
    const tying t = { config, db_cell_ties_of(config->symmetry, start->crystal.cell), notices,
                      user };
    if (!t.ties)
        return db_fail(context, DB_ERROR_USAGE, "%s: model.symmetry: '%s' is no symmetry",
                       config->config_file, config->symmetry);
    DB_TRY(regularize(context, &t, start));
    for (int i = 0; i < 6; i++) drop_fixed(&t, i);
    /* twice: what is tied to a leader that only another follower brings in */
    for (int i = 0; i < 12; i++) DB_TRY(tie(context, &t, i % 6));
    untie(&t);
    return DB_OK;
}
