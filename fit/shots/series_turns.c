/* Turns of the frames of a series beside those of its model: another rate of the spindle, another spindle, a turn from some frame
 * on. What frames say of the crystal's angles says it, without another rendering. */

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/shown_text.h"
#include "base/vector.h"
#include "fit/config/certain.h"
#include "fit/config/orientation.h"
#include "fit/linear/score.h"
#include "fit/pixels/geometry.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/series.h"
#include "fit/shots/series_earned.h"
#include "fit/shots/series_state.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unknowns of all frames, in the order of db_frame_turn.slope; behind them turns of groups about the spindle and across it. */
enum { RATE, TILTS };
_Static_assert(TILTS + 2 == DB_SERIES_TURNS, "two tilts of the spindle");

enum { MOST_GROUPS = 32 };

/* How the spindle of a frame turns its crystal. */
typedef struct frame_turning {
    double axis[3][3];   /* unit vectors: the spindle's, and across it */
    double to_angles[9]; /* from a turn before the spindle to the crystal's angles */
    double phi;          /* in the middle of the frame (degree) */
    double width;        /* of nodes (degree): standard deviation of their excitation */
    int known;           /* 0: the frame is not in use */
} frame_turning;

typedef struct turn_work {
    db_shots *all;
    const db_joint_minimum *at;
    db_joint_links links; /* with the turns */
    int tilted;           /* 1: tilts of the spindle are unknowns of the minimum */
    size_t groups;
    double scattering;    /* 1/angstrom: mean length of scattering vectors; 0: not known yet */
    frame_turning *frame; /* [shots] */
    db_frame_turn *turn;  /* [shots] */
} turn_work;

static void across_spindle(const double axis[3], const double beam[3], double first[3],
                           double second[3]) {
    db_cross(axis, beam, first);
    const double length = db_length(first);
    for (int i = 0; i < 3; i++) first[i] = length > 0 ? first[i] / length : 0;
    db_cross(axis, first, second);
}

static int is_turning(db_parameter p) {
    return db_orientation_axis(p) >= 0 || db_facts_of(p)->kind == DB_KIND_SPINDLE_TILT;
}

/* Mean length of the scattering vectors of all boxes (1/angstrom), which no rotation of the lattice changes. */
static double mean_scattering(const db_series *s, const double lattice[9]) {
    const size_t count = s->first[s->count];
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double hkl[3], q[3];
        for (int k = 0; k < 3; k++) hkl[k] = s->part[i].hkl[k];
        db_apply(lattice, hkl, q);
        sum += db_length(q);
    }
    return count ? sum / (double)count : 0;
}

/* How a frame turns in the refined model. */
static db_status turning_of(turn_work *w, size_t shot, frame_turning *to) {
    const db_shots *const all = w->all;
    const db_schur_order *const order = &w->at->links->order;
    db_experiment e = all->state[shot].start; /* borrows */
    double value[DB_FIT_MOST_PARAMETERS], beam[3], half;
    db_fit_geometry geometry;
    db_joint_links_values(w->at->links, shot, w->at->at, value);
    for (size_t l = 0; l < order->shared; l++) {
        const db_parameter p = all->settings.parameters[order->index[l]].parameter;
        if (is_turning(p))
            db_parameter_set(&e, p, value[l] + db_shots_shift(all, shot, order->index[l]));
    }
    db_experiment_spindle_axis(&e, to->axis[0]);
    db_experiment_beam_direction(&e, beam);
    across_spindle(to->axis[0], beam, to->axis[1], to->axis[2]);
    db_orientation_slopes(&e.crystal, to->to_angles);
    to->phi = db_goniometer_middle(&e, &half);
    to->known = 1;
    DB_TRY(db_fit_geometry_of(all->context, &e, &geometry));
    if (!(w->scattering > 0)) w->scattering = mean_scattering(all->series, geometry.a_star);
    to->width = hypot(geometry.mosaic_angle,
                      w->scattering > 0 ? geometry.node_width / w->scattering / DB_DEGREE : 0);
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

static db_status find_turnings(turn_work *w) {
    db_shots *const all = w->all;
    db_status status = DB_OK;
    for (size_t k = 0; k < all->count && status == DB_OK; k++)
        if (db_shots_own(all, k) && all->summary[k].used) status = turning_of(w, k, &w->frame[k]);
    DB_TRY(db_workers_common_status(all, status));
    return db_records_hear(all, w->frame, sizeof *w->frame);
}

/* The turn of a crystal before the spindle, if this is tilted by 1 about an axis. */
static void turn_by_tilt(const frame_turning *f, const double tilt[3], double turn[3]) {
    const double s = sin(-f->phi * DB_DEGREE), c = cos(f->phi * DB_DEGREE);
    double across[3];
    db_cross(f->axis[0], tilt, across);
    for (int i = 0; i < 3; i++) turn[i] = c * tilt[i] + s * across[i] - tilt[i];
}

static void fill_turn(const frame_turning *f, double from, db_frame_turn *to) {
    double turn[DB_FRAME_TURNS][3];
    for (int i = 0; i < 3; i++) turn[RATE][i] = (f->phi - from) * f->axis[0][i];
    for (int k = 0; k < 2; k++) turn_by_tilt(f, f->axis[1 + k], turn[TILTS + k]);
    memcpy(turn[DB_SERIES_TURNS], f->axis, sizeof f->axis);
    for (int k = 0; k < DB_FRAME_TURNS; k++) {
        double angles[3];
        db_apply(f->to_angles, turn[k], angles);
        for (int i = 0; i < 3; i++) to->slope[i][k] = angles[i];
    }
}

/* Number of a frame's image: crystals on one mount turn together. */
static size_t image_at(const turn_work *w, size_t shot) {
    return w->all->image ? w->all->image[shot] : shot;
}

static void fill_turns(turn_work *w) {
    const size_t count = w->all->count;
    double sum = 0, known = 0;
    size_t images = 1;
    for (size_t k = 0; k < count; k++)
        if (image_at(w, k) >= images) images = image_at(w, k) + 1;
    const size_t size = (images + MOST_GROUPS - 1) / MOST_GROUPS;
    w->groups = (images + size - 1) / size;
    for (size_t k = 0; k < count; k++) {
        sum += w->frame[k].known ? w->frame[k].phi : 0;
        known += w->frame[k].known;
    }
    for (size_t k = 0; k < count; k++) {
        w->turn[k].group = image_at(w, k) / size;
        if (w->frame[k].known) fill_turn(&w->frame[k], sum / known, &w->turn[k]);
    }
}

/* Is a linked variable, or that of a crystal or setting, refined? Those without light are held. */
static int moves(const db_joint_links *links, size_t linked, const db_unknowns *u) {
    const size_t first = links->first[linked];
    for (size_t k = first; k < first + links->values[linked]; k++)
        if (u->lower[k] < u->upper[k]) return 1;
    return 0;
}

/* Which linked variables are the angles that all frames of a crystal share? 0: they do not share all three. */
static int find_angles(turn_work *w) {
    const db_joint_links *const own = w->at->links;
    int found = 0;
    for (size_t l = 0; l < own->order.shared; l++) {
        const db_parameter p = w->all->settings.parameters[own->order.index[l]].parameter;
        const db_unknowns *const u = w->at->unknowns;
        const int axis = db_orientation_axis(p),
                  is_shared = own->first[l] < own->shared ||
                              own->varies[l] == DB_VARIES_BY_CRYSTAL ||
                              own->varies[l] == DB_VARIES_BY_SETTING;
        if (!is_shared || !is_turning(p) || !moves(own, l, u)) continue;
        if (axis < 0) {
            w->tilted = 1;
            continue;
        }
        w->links.turned[axis] = l;
        found++;
    }
    return found == 3;
}

/* Sums of the unknowns of the minimum and of the turns, after a step of all of them. */
static db_status score_turns(const turn_work *w, const double *step, db_score *score) {
    const db_joint_minimum *const at = w->at;
    const size_t n = at->links->unknowns, all = w->links.unknowns, size = db_schur_sums_size(all);
    double *const sums = calloc(3 * size + all * all + 2 * all + 1 + n * n + 2 * n, sizeof *sums);
    unsigned char *const held = calloc(n + 1, 1);
    double *const normal = sums + 3 * size, *const slope = normal + all * all,
                  *const prior = slope + all, *const pull = prior + n * n;
    double *const pulls[2] = { sums + size, sums + 2 * size };
    double loss;
    db_status status = sums && held ? DB_OK : db_fail_memory(w->all->context, "turns of frames");
    if (status == DB_OK) status = db_series_sum_here(w->all, &w->links, step, sums, pulls);
    if (status == DB_OK) {
        db_schur_total(all, sums, &loss, slope, normal);
        db_unknowns_add_priors(at->unknowns, at->at, &loss, pull, prior);
        for (size_t i = 0; i < n; i++) {
            held[i] = at->at_bound[i] != 0 || at->unknowns->lower[i] >= at->unknowns->upper[i];
            slope[i] += pull[i];
            for (size_t k = 0; k < n; k++) normal[i * all + k] += prior[i * n + k];
        }
        for (size_t i = 0; i < all; i++) slope[i] *= 0.5;
        const db_score_equations equations = { n,     all - n,
                                               slope, normal,
                                               held,  { pulls[0] + 1 + all, pulls[1] + 1 + all } };
        status = db_score_make(w->all->context, &equations, score);
    }
    free(sums);
    free(held);
    return status;
}

/* A rival: `count` unknowns, of the series (first), or turns of all groups from number `from` on. */
typedef struct turn_rival {
    size_t count, first, from;
    db_score_rival found;
} turn_rival;

/* Rows of mix for a rival. */
static void mix_rival(const turn_work *w, const turn_rival *r, double *mix) {
    const size_t further = w->links.unknowns - w->links.first_turn;
    memset(mix, 0, DB_SCORE_MOST * further * sizeof *mix);
    for (size_t a = 0; a < r->count; a++) {
        if (!r->from) mix[a * further + r->first + a] = 1;
        for (size_t g = r->from; g < w->groups && r->from; g++)
            mix[a * further + DB_SERIES_TURNS + DB_GROUP_TURNS * g + a] = 1;
    }
}

/* Step of all unknowns to the minimum of a rival. */
static void step_to(const turn_work *w, const db_score *score, const turn_rival *r,
                    const double *mix, double *step) {
    const size_t n = w->at->links->unknowns, further = score->further;
    for (size_t k = 0; k < further; k++) {
        step[n + k] = 0;
        for (size_t a = 0; a < r->count; a++)
            step[n + k] += r->found.step[a] * mix[a * further + k];
    }
    for (size_t i = 0; i < n; i++) {
        const double *const answer = score->answer + i * (further + 1);
        step[i] = answer[further];
        for (size_t k = 0; k < further; k++) step[i] += answer[k] * step[n + k];
    }
}

/* What was fitted to reflections has taken a part of their scatter; without enough reflections none is left. */
static void widen_by_fit(const turn_work *w, turn_rival *r) {
    const db_unknowns *const u = w->at->unknowns;
    size_t fitted = r->count;
    for (size_t i = 0; i < w->at->links->unknowns; i++)
        fitted += w->at->at_bound[i] == 0 && u->lower[i] < u->upper[i];
    const double all = (double)db_series_reflections(w->all), left = all - (double)fitted;
    if (!(left > 0)) r->found.count = 0;
    for (size_t a = 0; a < r->count && left > 0; a++) r->found.error[a] *= sqrt(all / left);
    r->found.square *= left > 0 ? left / all : 0;
}

/* Judges a rival again by the scatter of the data about it: about the model, its own faults would be scatter. */
static db_status judge_again(const turn_work *w, const db_score *score, double *mix, double *step,
                             turn_rival *r) {
    db_score there;
    mix_rival(w, r, mix);
    step_to(w, score, r, mix, step);
    DB_TRY(score_turns(w, step, &there));
    r->found = db_score_of(&there, r->count, mix);
    widen_by_fit(w, r);
    db_score_clear(&there);
    return DB_OK;
}

/* How many times the turn that is given do frames ask for? */
static void tell_rate(const turn_work *w, const turn_rival *r) {
    db_shots *const all = w->all;
    const double times = 1 + r->found.step[0];
    size_t a = 0, b;
    while (!w->frame[a].known) a++;
    for (b = a + 1; b < all->count && !w->frame[b].known;) b++;
    const double given = b < all->count ? (w->frame[b].phi - w->frame[a].phi) / (double)(b - a) : 0;
    db_shown_format(all->frames.turns, sizeof all->frames.turns,
                    "the steps of phi are wrong: spots fit %.4g +- %.1g times the given turns of "
                    "the spindle, about %.4g degree from frame to frame instead of %.4g; correct "
                    "phi, or let the orientation vary (shots.knots)",
                    times, r->found.error[0], times * given, given);
}

static void tell_tilt(const turn_work *w, const turn_rival *r) {
    db_shots *const all = w->all;
    db_shown_format(all->frames.turns, sizeof all->frames.turns,
                    "the spindle axis is wrong: spots fit an axis tilted by about %.2g degree (+- "
                    "%.1g), which was not refined; correct the axis, or refine "
                    "spindle_tilt_beam and spindle_tilt_across",
                    hypot(r->found.step[0], r->found.step[1]),
                    hypot(r->found.error[0], r->found.error[1]));
}

static size_t first_of_group(const turn_work *w, size_t group) {
    size_t k = 0;
    while (w->turn[k].group < group || !w->frame[k].known) k++;
    return k;
}

static void tell_slip(const turn_work *w, const turn_rival *r) {
    db_shots *const all = w->all;
    const size_t k = first_of_group(w, r->from);
    db_shown_format(all->frames.turns, sizeof all->frames.turns,
                    "from about %s on, spots fit a crystal turned by about %.2g degree, %.2g of "
                    "them about the spindle (+- %.1g): the crystal has slipped, frames are "
                    "missing, or phi is wrong; correct phi, refine the parts one by one, or "
                    "let the orientation vary (shots.knots)",
                    all->source->name(all->source->user, k), db_length(r->found.step),
                    r->found.step[0], r->found.error[0]);
}

/* The largest turn of a group of frames from the one before. */
static void find_slip(const turn_work *w, const db_score *score, double *mix, turn_rival *slip) {
    for (size_t g = 1; g < w->groups; g++) {
        turn_rival one = { 3, 0, g, { 0 } };
        mix_rival(w, &one, mix);
        one.found = db_score_of(score, one.count, mix);
        if (one.found.fall > slip->found.fall) *slip = one;
    }
}

static int is_beyond_chance(const db_score_rival *r) {
    const double sure = DB_CERTAIN, deviations = 5;
    return r->count == 1 ? fabs(r->step[0]) > deviations * r->error[0] : 0.5 * r->square > sure;
}

/* Does a turn matter? The rate of a goniometer is exact; its spindle is mounted with care; crystals move by less than their
 * reflections are wide. */
static int is_large(const turn_work *w, const turn_rival *r) {
    const double by = db_length(r->found.step);
    if (r->count == 1) return 1;
    return by >
           (r->count == 2 ? DB_USUAL_SPINDLE_TILT : w->frame[first_of_group(w, r->from)].width);
}

/* Of the rivals that are beyond chance the one with the least loss is told, as the others try to do the same. */
static db_status judge_rivals(turn_work *w, const db_score *score, double *mix, double *step) {
    turn_rival rival[3] = { { 1, RATE, 0, { 0 } }, { 2, TILTS, 0, { 0 } }, { 3, 0, 0, { 0 } } };
    static void (*const tell[3])(const turn_work *, const turn_rival *) = { tell_rate, tell_tilt,
                                                                            tell_slip };
    size_t likeliest = 3;
    for (size_t i = 0; i < 2; i++) {
        mix_rival(w, &rival[i], mix);
        if (i != 1 || !w->tilted) rival[i].found = db_score_of(score, rival[i].count, mix);
    }
    find_slip(w, score, mix, &rival[2]);
    for (size_t i = 0; i < 3; i++) {
        if (!rival[i].found.count) continue;
        DB_TRY(judge_again(w, score, mix, step, &rival[i]));
        if (is_beyond_chance(&rival[i].found) &&
            (likeliest == 3 || rival[i].found.fall > rival[likeliest].found.fall))
            likeliest = i;
    }
    if (likeliest < 3 && is_large(w, &rival[likeliest])) tell[likeliest](w, &rival[likeliest]);
    return DB_OK;
}

static db_status judge_here(turn_work *w) {
    const size_t n = w->links.first_turn;
    db_score score;
    fill_turns(w);
    w->links.turn = w->turn;
    w->links.unknowns = n + DB_SERIES_TURNS + DB_GROUP_TURNS * w->groups;
    double *const mix = calloc((DB_SCORE_MOST + 1) * w->links.unknowns, sizeof *mix);
    if (!mix) return db_fail_memory(w->all->context, "turns of frames");
    db_status status = score_turns(w, NULL, &score);
    if (status == DB_OK) {
        status = judge_rivals(w, &score, mix, mix + DB_SCORE_MOST * w->links.unknowns);
        db_score_clear(&score);
    }
    free(mix);
    return status;
}

static db_status judge_together(turn_work *w) {
    db_shots *const all = w->all;
    DB_TRY(find_turnings(w));
    DB_TRY(db_workers_common_status(all, all->team.rank == 0 ? judge_here(w) : DB_OK));
    return db_team_broadcast(&all->team, all->context, all->frames.turns, sizeof all->frames.turns);
}

db_status db_series_judge_turns(db_shots *all, const db_joint_minimum *at) {
    turn_work w = { .all = all, .at = at, .links = *at->links };
    *all->frames.turns = '\0';
    w.links.first_turn = w.links.unknowns;
    if (at->stays || !find_angles(&w)) return DB_OK;
    w.frame = calloc(all->count + 1, sizeof *w.frame);
    w.turn = calloc(all->count + 1, sizeof *w.turn);
    const int has_room = w.frame && w.turn;
    db_status status = db_workers_common_status(
        all, has_room ? DB_OK : db_fail_memory(all->context, "turns of frames"));
    if (has_room && status == DB_OK) status = judge_together(&w);
    free(w.frame);
    free(w.turn);
    return status;
}
