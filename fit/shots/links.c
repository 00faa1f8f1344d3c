/* Unknowns of a joint stage, and their links to quantities of shots. */
#include "fit/shots/links.h"

#include "base/context_internal.h"
#include "fit/shots/joint_stages.h"
#include "fit/shots/records.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of knots of each crystal for a varying quantity: evenly spaced from its first to its last frame. */
static size_t knot_count(const db_shots *all) {
    size_t frames = 0;
    for (size_t c = 0; c < all->frames.crystals; c++)
        if (all->frames.crystal[c].count > frames) frames = all->frames.crystal[c].count;
    const double most = fmax(1, (double)frames - 1),
                 intervals = round((double)(frames - 1) / all->options->knots);
    return 1 + (size_t)fmin(fmax(1, intervals), most);
}

/* Number of unknowns of a linked quantity that not all shots share. */
static size_t value_count(const db_shots *all, size_t index) {
    switch ((db_varying)all->varies[index]) {
    case DB_VARIES_AT_KNOTS: return all->frames.crystals * knot_count(all);
    case DB_VARIES_BY_CRYSTAL: return all->frames.crystals;
    case DB_VARIES_BY_SETTING:
        return all->frames.setting_count[db_setting_of(all->settings.parameters[index].parameter)];
    default: return all->count;
    }
}

db_joint_links db_joint_links_make(const db_shots *all, int stage) {
    const int intensities = db_fit_is_intensity_stage(&all->settings, stage);
    unsigned char linked[DB_FIT_MOST_PARAMETERS] = { 0 };
    db_joint_links links = { .shots = all->count,
                             .crystals = all->frames.crystals,
                             .crystal = all->frames.crystal };
    for (size_t i = 0; i < all->parameters; i++)
        linked[i] = all->shared[i] || (!intensities && (all->varies[i] || db_series_shares(all)));
    links.order = db_schur_order_make(&all->settings, stage, linked);
    for (int pass = 0; pass < 2; pass++) /* shared ones come first */
        for (size_t l = 0; l < links.order.shared; l++) {
            const size_t index = links.order.index[l];
            if ((all->shared[index] != 0) != (pass == 0)) continue;
            links.first[l] = links.unknowns;
            links.values[l] = pass == 0 ? 1 : value_count(all, index);
            links.varies[l] = all->varies[index];
            if (links.varies[l] == DB_VARIES_BY_SETTING)
                links.setting[l] =
                    all->frames.setting[db_setting_of(all->settings.parameters[index].parameter)];
            links.unknowns += links.values[l];
            if (pass == 0) links.shared = links.unknowns;
        }
    return links;
}

void db_joint_links_index(const db_joint_links *links, size_t *index) {
    for (size_t l = 0; l < links->order.shared; l++)
        for (size_t u = 0; u < links->values[l]; u++)
            index[links->first[l] + u] = links->order.index[l];
}

/* Unknowns of the quantity itself. */
static size_t own_links(const db_joint_links *links, size_t shot, size_t linked,
                        db_joint_link link[2]) {
    const size_t first = links->first[linked],
                 crystal = db_crystal_of_shot(links->crystal, links->crystals, shot);
    if (links->varies[linked] != DB_VARIES_AT_KNOTS) {
        const int by_crystal = links->varies[linked] == DB_VARIES_BY_CRYSTAL;
        const size_t *const setting = links->setting[linked];
        link[0] = (db_joint_link){ first + (first < links->shared ? 0
                                            : by_crystal          ? crystal
                                            : setting             ? setting[shot]
                                                                  : shot),
                                   1 };
        return 1;
    }
    const db_series_crystal *const own = &links->crystal[crystal];
    const size_t count = links->values[linked] / links->crystals; /* knots */
    const double place =
        (double)(shot - own->first) * (double)(count - 1) / fmax(1, (double)own->count - 1);
    const size_t knot = (size_t)fmin(floor(place), (double)count - 2);
    const double beyond = place - (double)knot;
    link[0] = (db_joint_link){ first + crystal * count + knot, 1 - beyond };
    link[1] = (db_joint_link){ first + crystal * count + knot + 1, beyond };
    return 2;
}

size_t db_joint_links_of(const db_joint_links *links, size_t shot, size_t linked,
                         db_joint_link link[DB_MOST_LINKS]) {
    size_t count = own_links(links, shot, linked, link);
    for (int angle = 0; angle < 3 && links->turn; angle++) {
        const db_frame_turn *const turn = &links->turn[shot];
        if (links->turned[angle] != linked) continue;
        for (size_t k = 0; k < DB_FRAME_TURNS; k++)
            link[count++] =
                (db_joint_link){ links->first_turn + k +
                                     (k < DB_SERIES_TURNS ? 0 : DB_GROUP_TURNS * turn->group),
                                 turn->slope[angle][k] };
    }
    return count;
}

void db_joint_links_values(const db_joint_links *links, size_t shot, const double *unknown,
                           double *value) {
    for (size_t l = 0; l < links->order.shared; l++) {
        db_joint_link link[DB_MOST_LINKS];
        value[l] = 0;
        for (size_t p = db_joint_links_of(links, shot, l, link); p-- > 0;)
            value[l] += link[p].weight * unknown[link[p].unknown];
    }
}

void db_joint_links_add(const db_joint_links *links, size_t shot, const double *own, double *sums) {
    const size_t m = links->order.shared;
    const double *const normal = own + 1 + m;
    double *const to = sums + 1 + links->unknowns;
    db_joint_link a[DB_MOST_LINKS], b[DB_MOST_LINKS];
    sums[0] += own[0];
    for (size_t i = 0; i < m; i++) {
        const size_t parts = db_joint_links_of(links, shot, i, a);
        for (size_t p = 0; p < parts; p++) sums[1 + a[p].unknown] += a[p].weight * own[1 + i];
        for (size_t j = 0; j < m; j++) {
            const double value = normal[db_triangle_at(i, j)];
            const size_t others = db_joint_links_of(links, shot, j, b);
            for (size_t p = 0; p < parts; p++)
                for (size_t q = 0; q < others; q++) {
                    const size_t u = a[p].unknown, v = b[q].unknown;
                    if (u >= v) to[db_triangle_at(u, v)] += a[p].weight * b[q].weight * value;
                }
        }
    }
}

size_t db_joint_links_begin(db_shots *all, size_t shot, int stage, const db_variables *v,
                            size_t spots) {
    const db_joint_links links = db_joint_links_make(all, stage);
    const db_schur_order *const order = &links.order;
    db_shot_state *const state = &all->state[shot];
    for (size_t i = 0; i < order->local; i++)
        state->best.local[i] = v->start[order->variable[order->shared + i]];
    for (size_t l = 0; l < order->shared; l++) {
        const size_t k = order->variable[l];
        state->begin[l] = (db_linked_start){ v->start[k],  v->lower[k], v->upper[k],
                                             v->centre[k], v->sigma[k], spots };
    }
    return order->shared;
}

/* Starts the value at a knot with the value of the nearest shot. */
static void take_starts(const db_shots *all, const db_joint_links *links,
                        const db_linked_start *starts, unsigned char *known, db_unknowns *u,
                        double *value) {
    for (size_t s = 0; s < all->count; s++)
        for (size_t l = 0; l < links->order.shared && all->summary[s].used; l++) {
            const db_linked_start *const from = &starts[s * links->order.shared + l];
            db_joint_link link[DB_MOST_LINKS];
            const size_t parts = db_joint_links_of(links, s, l, link);
            for (size_t p = 0; p < parts; p++) {
                const size_t k = link[p].unknown;
                if (k < links->shared || (known[k] && link[p].weight < 0.5)) continue;
                known[k] = 1;
                value[k] = from->start;
                u->lower[k] = from->lower;
                u->upper[k] = from->upper;
                u->centre[k] = from->centre;
                u->sigma[k] = from->sigma;
            }
        }
}

static void hold(db_unknowns *u, size_t k, double value) { u->lower[k] = u->upper[k] = value; }

/* Holds unknowns that only excluded shots would use at the start of the nearest other one. */
static void hold_bare(const db_joint_links *links, const unsigned char *known, db_unknowns *u,
                      double *value) {
    for (size_t l = 0; l < links->order.shared; l++) {
        const size_t first = links->first[l], end = first + links->values[l];
        for (size_t k = first < links->shared ? end : first; k < end; k++) {
            size_t near = k;
            if (known[k]) continue;
            for (size_t away = 1; near == k && away < end - first; away++)
                if (k >= first + away && known[k - away])
                    near = k - away;
                else if (k + away < end && known[k + away])
                    near = k + away;
            value[k] = value[near];
            u->sigma[k] = INFINITY;
            hold(u, k, value[k]);
        }
    }
}

/* Is an unknown that of the frames of one crystal or setting? */
static int is_of_some(const db_joint_links *links, size_t linked) {
    return links->varies[linked] == DB_VARIES_BY_CRYSTAL ||
           links->varies[linked] == DB_VARIES_BY_SETTING;
}

/* Counts the spots on the frames of each unknown of a crystal or setting. */
static void count_spots(const db_shots *all, const db_joint_links *links,
                        const db_linked_start *starts, size_t *spots) {
    const size_t m = links->order.shared;
    db_joint_link link[DB_MOST_LINKS];
    for (size_t s = 0; s < all->count; s++)
        for (size_t l = 0; l < m && all->summary[s].used; l++)
            if (is_of_some(links, l) && own_links(links, s, l, link) == 1)
                spots[link[0].unknown] += starts[s * m + l].spots;
}

static void name_dark(db_shots *all, size_t shot, int by_crystal) {
    char *const text = all->frames.dark;
    const size_t length = strlen(text), room = sizeof all->frames.dark - length;
    snprintf(text + length, room, "%sthe %s from %.90s on", length ? ", " : "",
             by_crystal ? "crystal" : "setting", all->source->name(all->source->user, shot));
}

/* Holds unknowns of a crystal or setting whose frames show hardly a spot: noise would move them. */
static void hold_dark(db_shots *all, const db_joint_links *links, const size_t *spots,
                      db_unknowns *u, const double *value) {
    db_joint_link link[DB_MOST_LINKS];
    *all->frames.dark = '\0';
    for (size_t s = 0; s < all->count; s++) {
        int is_named = 0;
        if (all->frames.is_dark) all->frames.is_dark[s] = 0;
        for (size_t l = 0; l < links->order.shared && all->summary[s].used; l++) {
            if (!is_of_some(links, l) || own_links(links, s, l, link) != 1) continue;
            const size_t k = link[0].unknown;
            if (spots[k] >= db_series_fewest(all)) continue;
            if (all->frames.is_dark) all->frames.is_dark[s] = 1;
            if (u->lower[k] >= u->upper[k]) continue; /* a frame before has held it */
            hold(u, k, value[k]);
            if (!is_named++) name_dark(all, s, links->varies[l] == DB_VARIES_BY_CRYSTAL);
        }
    }
}

static void hold_scale_of(const db_shots *all, const db_joint_links *links, size_t shot,
                          db_unknowns *u, const double *value) {
    for (size_t l = 0; l < links->order.shared; l++) {
        db_joint_link link[DB_MOST_LINKS];
        if (all->settings.parameters[links->order.index[l]].parameter != DB_SCALE ||
            links->first[l] < links->shared)
            continue;
        const size_t parts = db_joint_links_of(links, shot, l, link);
        const size_t k = link[parts == 2 && link[1].weight > link[0].weight].unknown;
        hold(u, k, value[k]);
    }
}

/* Holds the scale of the first frame of each sweep, to which scales are relative if intensities are free: sweeps have
 * no reflection in common. */
static void hold_first_scales(const db_shots *all, const db_joint_links *links, db_unknowns *u,
                              const double *value) {
    size_t before = SIZE_MAX;
    for (size_t shot = 0; shot < all->count && db_series_shares(all); shot++) {
        if (!all->summary[shot].used || all->frames.sweep[shot] == before) continue;
        hold_scale_of(all, links, shot, u, value);
        before = all->frames.sweep[shot];
    }
}

static db_status find_starts(db_shots *all, const db_joint_links *links, db_linked_start *starts,
                             unsigned char *known, size_t *spots, db_unknowns *u, double *value) {
    const size_t m = links->order.shared, row = m * sizeof *starts;
    for (size_t s = 0; s < all->count; s++)
        if (all->state[s].begin && all->summary[s].used)
            memcpy(starts + s * m, all->state[s].begin, row);
    DB_TRY(db_records_hear(all, starts, row));
    take_starts(all, links, starts, known, u, value);
    hold_bare(links, known, u, value);
    count_spots(all, links, starts, spots);
    hold_dark(all, links, spots, u, value);
    hold_first_scales(all, links, u, value);
    double *const list[] = { u->lower, u->upper, u->centre, u->sigma, value };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        DB_TRY(
            db_team_broadcast(&all->team, all->context, list[i], links->unknowns * sizeof(double)));
    return DB_OK;
}

db_status db_joint_links_start(db_shots *all, const db_joint_links *links, db_unknowns *unknowns,
                               double *value) {
    if (links->unknowns == links->shared) return DB_OK;
    db_linked_start *const starts = calloc(all->count * links->order.shared + 1, sizeof *starts);
    unsigned char *const known = calloc(links->unknowns + 1, 1);
    size_t *const spots = calloc(links->unknowns + 1, sizeof *spots);
    db_status status =
        db_workers_need_memory(all, starts && known && spots, "the unknowns of a series");
    if (status == DB_OK && starts && known && spots)
        status = find_starts(all, links, starts, known, spots, unknowns, value);
    free(starts);
    free(known);
    free(spots);
    return status;
}
