/* Finds the reflections that have spots on the panels: nodes near the Ewald sphere, row by row of the reciprocal
 * lattice. */

#include "engine/spot_search.h"

#include "engine/spot_bounds.h"
#include "kernel/spot_tiles.h"
#include "base/degree.h"
#include "base/growth.h"
#include "base/threads.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Pieces of the work: enough for any number of threads, in the order of the list. */
enum { MOST_PIECES = 64 };

static const double PI = 3.14159265358979323846;

int db_spot_passages(const db_experiment *e, const db_interface *z, size_t source, const int hkl[3],
                     db_spot_passage passage[DB_SPOT_MOST_PASSAGES]) {
    const double node[3] = { hkl[0], hkl[1], hkl[2] }, range = e->goniometer.phi_step * DB_DEGREE;
    spot_circle_double_0 k = { 0 };
    if (range != 0)
        k = spot_circle_of_double_0(z->spread.spindle, spot_node_of_double_0(z, node, NULL).r);
    return passages_of(&k, z->source[source].s0, range, passage);
}

/* A search in progress. */
typedef struct {
    const db_plan *plan;
    const db_spot_finder *finder;
    const db_spot_tiles *tiles; /* spots must reach one of them; NULL: any panel */
    const db_spot_list *list;   /* its search, groups, layers and windows */
    int names;                  /* 1: names alone are wanted */
} row_search;

/* A part of the work: layers of the lattice, one after the other. */
typedef struct {
    const row_search *search;
    db_spot_list *list;
    db_status status;
    int wrong[3]; /* reflection whose spread is no covariance */
    size_t source;
    db_spot_find find;
    db_spot_nodes nodes;
    db_spot_passage passage[DB_SPOT_NODES]; /* of nodes that turn */
} search_piece;

static int grow_spots(db_spot_list *list, size_t more, int names) {
    if (list->count + more <= list->room) return 1;
    const size_t room = 2 * list->room + more;
    db_spot_entry *entry = realloc(list->entry, room * sizeof *entry);
    if (entry) list->entry = entry;
    db_kernel_spot *spot = names ? NULL : realloc(list->spot, room * sizeof *spot);
    if (spot) list->spot = spot;
    if (!entry || !(spot || names)) return 0;
    list->room = room;
    return 1;
}

/* The entry of a node on a panel. */
static db_spot_entry *add_entry(search_piece *p, size_t panel, int node, int tail) {
    db_spot_entry *const entry = &p->list->entry[p->list->count];
    entry->name = (db_spot_name){ .source = p->source, .panel = panel, .tail = tail };
    for (int c = 0; c < 3; c++) entry->name.hkl[c] = (int)p->nodes.hkl[c][node];
    if (p->find.search->turns) entry->name.passage = p->passage[node];
    return entry;
}

static void add_names(search_piece *p, size_t panel, const int *number, int count) {
    if (!count || p->status != DB_OK) return;
    if (!grow_spots(p->list, (size_t)count, 1)) {
        p->status = DB_ERROR_MEMORY;
        return;
    }
    for (int i = 0; i < count; i++) {
        (void)add_entry(p, panel, number[i], 0);
        p->list->count++;
    }
}

/* Adds the spots of `count` nodes on a panel; all of them move, or none does. */
static void add_spots(search_piece *p, size_t panel, const int *number, int count) {
    const row_search *s = p->search;
    db_spot_list *list = p->list;
    db_spot_found found[DB_SPOT_NODES * (DB_SPREAD_TAILS + 1)];
    if (!count || p->status != DB_OK) return;
    if (!grow_spots(list, (size_t)count * (DB_SPREAD_TAILS + 1), 0)) {
        p->status = DB_ERROR_MEMORY;
        return;
    }
    db_kernel_spot *const spot = list->spot + list->count;
    const int spots =
        s->finder->spots(&p->find, &s->list->window[panel], &p->nodes, number, count, found, spot);
    if (spots < 0) {
        p->status = DB_ERROR_INPUT;
        for (int c = 0; c < 3; c++) p->wrong[c] = (int)p->nodes.hkl[c][-1 - spots];
    }
    for (int i = 0; i < spots; i++) {
        db_spot_entry *const entry = add_entry(p, panel, found[i].node, found[i].tail);
        entry->cut = spot[i].value_double[DB_SPOT_CUT];
        memcpy(entry->fast, spot[i].fast, sizeof entry->fast);
        memcpy(entry->slow, spot[i].slow, sizeof entry->slow);
        if (s->tiles && !db_reaches_tiles(s->tiles, s->plan->tiles.regions, entry)) continue;
        if (list->spot + list->count != spot + i) list->spot[list->count] = spot[i];
        list->count++;
    }
}

/* Makes spots of the nodes that wait. */
static void finish_nodes(search_piece *p) {
    const row_search *s = p->search;
    db_spot_nodes *const nodes = &p->nodes;
    int near[DB_SPOT_NODES], there[DB_SPOT_NODES], moving[DB_SPOT_NODES], resting[DB_SPOT_NODES];
    const int count = s->finder->near_sphere(&p->find, nodes, near);
    for (size_t panel = 0; panel < s->plan->experiment.detector.panel_count; panel++) {
        const int reach =
            s->finder->near_panel(&p->find, &s->list->window[panel], nodes, near, count, there);
        int move = 0, rest = 0;
        if (s->names) {
            add_names(p, panel, there, reach);
            continue;
        }
        for (int i = 0; i < reach; i++)
            if (nodes->moves[there[i]])
                moving[move++] = there[i];
            else
                resting[rest++] = there[i];
        add_spots(p, panel, moving, move);
        add_spots(p, panel, resting, rest);
    }
    nodes->count = 0;
}

/* Lets a node wait: r in the laboratory, at the angle of its passage. */
static void wait_node(search_piece *p, const int hkl[3], const double r[3], double square,
                      int moves) {
    db_spot_nodes *const nodes = &p->nodes;
    const int n = nodes->count++;
    for (int c = 0; c < 3; c++) {
        nodes->hkl[c][n] = hkl[c];
        nodes->r[c][n] = r[c];
    }
    nodes->square[n] = square;
    nodes->moves[n] = (unsigned char)moves;
}

/* Once for each of its passages. */
static void add_passages(search_piece *p, const int hkl[3], const double start[3], double square) {
    const row_search *s = p->search;
    db_spot_nodes *const nodes = &p->nodes;
    db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
    double axis[3];
    const int passages =
        db_spot_passages(&s->plan->experiment, &s->plan->values.interface, p->source, hkl, passage);
    db_vector_out(s->plan->values.interface.spread.spindle, axis);
    if (nodes->count + passages > DB_SPOT_NODES) finish_nodes(p);
    for (int i = 0; i < passages; i++) {
        const int n = nodes->count;
        double r[3] = { start[0], start[1], start[2] };
        db_turn(axis, passage[i].at, r);
        nodes->at[n] = passage[i].at;
        nodes->from[n] = passage[i].from;
        nodes->to[n] = passage[i].to;
        nodes->cosine[n] = cos(passage[i].at);
        nodes->sine[n] = sin(passage[i].at);
        p->passage[n] = passage[i];
        wait_node(p, hkl, r, square, passage[i].moves);
    }
}

static void add_node(search_piece *p, const int hkl[3]) {
    const row_search *s = p->search;
    const db_structure_factors *f = &s->plan->experiment.structure_factors;
    const double node[3] = { hkl[0], hkl[1], hkl[2] };
    const double square =
        node_square_double_0(f, NULL, s->plan->values.interface.site_curve, p->source, node).v;
    const double *const star = p->find.search->start;
    double r[3];
    if (square == 0 && !amplitude_wanted(p->find.search, hkl)) return;
    for (int c = 0; c < 3; c++)
        r[c] = node[0] * star[c] + node[1] * star[3 + c] + node[2] * star[6 + c];
    if (p->find.search->turns) {
        add_passages(p, hkl, r, square);
        return;
    }
    if (p->nodes.count == DB_SPOT_NODES) finish_nodes(p);
    wait_node(p, hkl, r, square, 0);
}

/* Adds the runs of a row to a layer. */
static void search_row(const row_search *s, const db_spot_group *g, int h, int k,
                       db_spot_layer *layer) {
    db_spot_run found[DB_SPOT_MOST_RUNS];
    if (row_is_empty(&s->plan->experiment.structure_factors, &s->list->search, h, &k)) return;
    const int runs = runs_of_row(&s->list->search, g, h, k, found);
    if (!runs) return;
    db_spot_run *const run =
        db_grown(layer->run, &layer->room, layer->count + DB_SPOT_MOST_RUNS, sizeof *run);
    layer->failed = !run;
    if (!run) return;
    layer->run = run;
    for (int i = 0; i < runs; i++) run[layer->count++] = found[i];
}

/* Nodes of equal h for a group of sources. */
static void search_layer(const row_search *s, size_t group, int h, db_spot_layer *layer) {
    layer->count = 0;
    layer->failed = 0;
    const db_spot_search *const search = &s->list->search;
    if (row_is_empty(&s->plan->experiment.structure_factors, search, h, NULL)) return;
    for (int k = -search->most[1]; k <= search->most[1] && !layer->failed; k++)
        search_row(s, &s->list->group[group], h, k, layer);
}

/* Reciprocal vectors in the laboratory when the spindle has turned by an angle. */
static void star_at(const db_interface *z, double angle, double star[9]) {
    double axis[3];
    db_vector_out(z->spread.spindle, axis);
    for (int i = 0; i < 3; i++) {
        db_vector_out(m3_apply_double_0(z->spread.turn, z->spread.reciprocal.r[i]), star + 3 * i);
        db_turn(axis, angle, star + 3 * i);
    }
}

/* Parts one after the other. */
static db_status join_parts(db_context *context, size_t parts, int threads, int names,
                            db_spot_list *list) {
    size_t count = 0;
    (void)threads;
    for (size_t i = 0; i < parts; i++) count += list->part[i].count;
    if (count > list->room) {
        const size_t room = count + count / 4;
        free(list->entry);
        free(list->spot);
        list->entry = malloc(room * sizeof *list->entry);
        list->spot = names ? NULL : malloc(room * sizeof *list->spot);
        list->room = list->entry && (list->spot || names) ? room : 0;
        list->count = 0;
        if (!list->room) return db_fail_memory(context, "the spots of an image");
    }
    list->count = 0;
    for (size_t i = 0; i < parts; i++) {
        list->part[i].first = list->count;
        list->count += list->part[i].count;
    }
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic) num_threads(threads)
#endif
    for (size_t i = 0; i < parts; i++) {
        const db_spot_list *part = &list->part[i];
        if (!part->count) continue;
        memcpy(list->entry + part->first, part->entry, part->count * sizeof *list->entry);
        if (!names) memcpy(list->spot + part->first, part->spot, part->count * sizeof *list->spot);
    }
    return DB_OK;
}

/* Allocates the parts, which keep their memory from search to search. */
static db_status make_parts(db_context *context, size_t parts, db_spot_list *list) {
    if (parts <= list->parts) return DB_OK;
    db_spot_list *more = realloc(list->part, parts * sizeof *more);
    if (!more) return db_fail_memory(context, "a search of spots");
    memset(more + list->parts, 0, (parts - list->parts) * sizeof *more);
    list->part = more;
    list->parts = parts;
    return DB_OK;
}

void db_spot_list_clear(db_spot_list *list) {
    for (size_t i = 0; i < list->parts; i++) db_spot_list_clear(&list->part[i]);
    for (size_t i = 0; i < list->layers; i++) free(list->layer[i].run);
    free(list->layer);
    free(list->part);
    free(list->group);
    free(list->group_of);
    free(list->window);
    free(list->entry);
    free(list->spot);
    *list = (db_spot_list){ 0 };
}

db_status db_spots_refuse_covariance(db_context *context, const int hkl[3]) {
    return db_fail(context, DB_ERROR_INPUT,
                   "spreads: their sum for reflection %d %d %d is not a covariance; expected "
                   "variances of at least 0, and correlations between -1 and 1",
                   hkl[0], hkl[1], hkl[2]);
}

static db_status explain_search(db_context *context, const db_spot_list *part) {
    if (part->status != DB_ERROR_INPUT) return db_fail_memory(context, "the spots of an image");
    return db_spots_refuse_covariance(context, part->wrong);
}

db_spot_window db_spot_window_of(const db_plan *plan, size_t panel, const db_spot_tiles *tiles) {
    const db_kernel_panel *k = &plan->values.panel[panel];
    const db_panel *own = &plan->experiment.detector.panels[panel];
    db_spot_window w = { .panel = *k,
                         .number = (uint32_t)panel,
                         .pixels = { own->fast_pixels, own->slow_pixels },
                         .pixel_size = { own->pixel_size[0], own->pixel_size[1] },
                         .everywhere = !tiles || tiles->everywhere };
    if (tiles) w.cells = tiles->cells[panel];
    double corner[3], least = 1;
    w.size[0] = own->fast_pixels * k->pixel_size[0];
    w.size[1] = own->slow_pixels * k->pixel_size[1];
    for (int c = 0; c < 3; c++)
        w.middle[c] = k->origin[c] + 0.5 * w.size[0] * k->fast[c] + 0.5 * w.size[1] * k->slow[c];
    db_normalize(w.middle);
    for (int i = 0; i < 4; i++) {
        for (int c = 0; c < 3; c++)
            corner[c] =
                k->origin[c] + (i & 1) * w.size[0] * k->fast[c] + (i >> 1) * w.size[1] * k->slow[c];
        least = fmin(least, db_dot(corner, w.middle) / db_length(corner));
    }
    /* of a cone that is no use none is too far */
    w.cosine = least > 0 ? least : -2;
    w.sine = least > 0 ? sqrt(fmax(0, 1 - least * least)) : 0;
    return w;
}

db_spot_find db_spot_find_of(const db_plan *plan, const db_spot_search *search, size_t source) {
    const db_interface *z = &plan->values.interface;
    return (db_spot_find){ .experiment = &plan->experiment,
                           .search = search,
                           .spread = (const double *)(const void *)&z->spread,
                           .panel = (const double *)(const void *)z->panel,
                           .source = (const double *)(const void *)&z->source[source],
                           .before = plan->job.spots.tiles.before,
                           .number = (uint32_t)source };
}

static void want_amplitudes(const db_plan_parameters *parameters, db_spot_search *search) {
    for (size_t k = 0; k < parameters->count; k++)
        if (db_parameter_moves_any(parameters, k, DB_MOVES_AMPLITUDE))
            db_parameter_node(parameters->list[k], search->wanted_hkl[search->wanted++]);
}

db_spot_search db_spot_search_of(const db_plan *plan, const db_spot_bounds *bounds) {
    const db_interface *z = &plan->values.interface;
    const db_structure_factors *f = &plan->experiment.structure_factors;
    const double range = plan->experiment.goniometer.phi_step * DB_DEGREE;
    db_spot_search s = { .parts = z->spread.parts,
                         .layer_step = z->layer_step.v,
                         .attenuation = z->attenuation.v,
                         .turns = plan->experiment.goniometer.phi_step != 0,
                         .slopes = plan->parameters.count > 0,
                         .listed =
                             f->default_F == 0 && !f->interpolate && plan->parameters.count == 0 };
    if (!bounds) return s;
    s.bounds = *bounds;
    want_amplitudes(&plan->parameters, &s);
    for (int i = 0; i < 3; i++) {
        double v[3];
        db_vector_out(z->lattice.r[i], v);
        s.most[i] = (int)floor(bounds->longest * db_length(v));
    }
    star_at(z, 0, s.start);
    star_at(z, 0.5 * range, s.middle);
    return s;
}

static void add_layer(search_piece *p, int h, const db_spot_layer *layer) {
    for (size_t i = 0; i < layer->count; i++) {
        const db_spot_run *const run = &layer->run[i];
        for (int l = run->from; l <= run->to && p->status == DB_OK; l++) {
            const int hkl[3] = { h, run->k, l };
            add_node(p, hkl);
        }
    }
}

/* Tasks are layers of equal h, of one source after the other. */
static void search_tasks(const row_search *s, long from, long to, db_spot_list *list,
                         db_spot_list *result) {
    const db_spot_search *const search = &s->list->search;
    const long rows = 2 * search->most[0] + 1;
    search_piece p;
    p.search = s;
    p.list = list;
    p.status = DB_OK;
    memset(p.wrong, 0, sizeof p.wrong);
    p.nodes.count = 0;
    memset(p.nodes.ray, 0, sizeof p.nodes.ray);
    memset(p.nodes.across, 0, sizeof p.nodes.across);
    for (long t = from; t < to; t++) {
        const size_t source = (size_t)(t / rows);
        if (t == from || source != p.source) {
            if (t > from) finish_nodes(&p);
            p.source = source;
            p.find = db_spot_find_of(s->plan, search, source);
        }
        add_layer(&p, (int)(t % rows) - search->most[0],
                  &s->list->layer[(long)s->list->group_of[source] * rows + t % rows]);
    }
    if (p.status == DB_OK) finish_nodes(&p);
    result->status = p.status;
    memcpy(result->wrong, p.wrong, sizeof p.wrong);
}

/* Sources of equal direction, one after the other, are a group: widens it to hold source j, too. The shell is
 * as thick as the widest spot, and as the range turns a node. */
static void add_to_group(const db_plan *plan, const db_spot_search *search, size_t j,
                         db_spot_group *g) {
    const db_kernel_source_double *source = &plan->values.source_double[j];
    const db_spot_reach reach = db_spot_largest_reach(&search->bounds, 1 / source->kappa);
    const double sweep = 0.5 * fabs(plan->experiment.goniometer.phi_step * DB_DEGREE);
    const double kappa = source->kappa, turned = sweep * search->bounds.longest,
                 rounding = 1e-9 * kappa;
    const double out = kappa * reach.outwards + turned + rounding,
                 in = kappa * (1 - sqrt(fmax(0, 1 - 2 * reach.inwards))) + turned + rounding;
    if (kappa > g->largest_kappa) {
        g->largest_kappa = kappa;
        memcpy(g->largest, source->s0, sizeof g->largest);
    }
    if (g->smallest_kappa == 0 || kappa < g->smallest_kappa) {
        g->smallest_kappa = kappa;
        memcpy(g->smallest, source->s0, sizeof g->smallest);
    }
    g->outwards = fmax(g->outwards, out);
    g->inwards = fmax(g->inwards, in);
    g->out = g->largest_kappa + g->outwards;
    g->in = g->smallest_kappa - g->inwards;
}

static int same_direction(const db_kernel_source_double *a, const db_kernel_source_double *b) {
    double square = 0;
    for (int c = 0; c < 3; c++) {
        const double off = a->s0[c] / a->kappa - b->s0[c] / b->kappa;
        square += off * off;
    }
    return square < 1e-26;
}

db_status db_spots_search_begin(const db_plan *plan, const db_spot_bounds *bounds,
                                const db_spot_tiles *tiles, db_spot_list *list) {
    const size_t sources = plan->experiment.beam.source_count,
                 panels = plan->experiment.detector.panel_count;
    DB_GROW(plan->context, list->group, list->groups, sources, "a search of spots");
    DB_GROW(plan->context, list->group_of, list->sources, sources, "a search of spots");
    DB_GROW(plan->context, list->window, list->windows, panels, "a search of spots");
    list->search = db_spot_search_of(plan, bounds);
    list->group_count = 0;
    for (size_t j = 0; j < sources; j++) {
        if (j == 0 ||
            !same_direction(&plan->values.source_double[j - 1], &plan->values.source_double[j]))
            list->group[list->group_count++] = (db_spot_group){ 0 };
        list->group_of[j] = (uint32_t)list->group_count - 1;
        add_to_group(plan, &list->search, j, &list->group[list->group_of[j]]);
    }
    for (size_t p = 0; p < panels; p++) list->window[p] = db_spot_window_of(plan, p, tiles);
    return DB_OK;
}

/* Fails if there may be too many names, of some 600 bytes each while spots are made from them. The part of a
 * sphere through the origin within a length of it has the area pi length^2. */
static db_status check_names(const row_search *s, const db_spot_list *list) {
    const db_structure_factors *f = &s->plan->experiment.structure_factors;
    const double most = 4e7, longest = list->search.bounds.longest;
    double cell[9], cofactors[9], thickness = 0;
    for (int i = 0; i < 3; i++) db_vector_out(s->plan->values.interface.lattice.r[i], cell + 3 * i);
    for (size_t j = 0; j < s->plan->experiment.beam.source_count; j++) {
        const db_spot_group *g = &list->group[list->group_of[j]];
        thickness += fmin(g->outwards + g->inwards, longest);
    }
    const double names = PI * longest * longest * thickness * fabs(db_cofactors(cell, cofactors));
    if (names < most || f->default_F == 0) return DB_OK;
    return db_fail(s->plan->context, DB_ERROR_INPUT,
                   "too many reflections to predict to %.3g A (%.1g): limit dmin", 1 / longest,
                   names);
}

/* Nodes of each layer, group after group. */
static db_status search_layers(const row_search *s, db_spot_list *list) {
    const int most = list->search.most[0];
    const size_t rows = 2 * (size_t)most + 1, count = list->group_count * rows;
    int failed = 0;
    if (count > list->layers) {
        db_spot_layer *const layer = realloc(list->layer, count * sizeof *layer);
        if (!layer) return db_fail_memory(s->plan->context, "a search of spots");
        memset(layer + list->layers, 0, (count - list->layers) * sizeof *layer);
        list->layer = layer;
        list->layers = count;
    }
#if defined(_OPENMP)
    const int threads = db_threads_for(s->plan->context, (long)(count / 16 + 1));
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads) if (threads > 1)                \
    reduction(+ : failed)
#endif
    for (long i = 0; i < (long)count; i++) {
        search_layer(s, (size_t)i / rows, (int)((size_t)i % rows) - most, &list->layer[i]);
        failed += list->layer[i].failed;
    }
    return failed ? db_fail_memory(s->plan->context, "a search of spots") : DB_OK;
}

static db_status search_all(const db_plan *plan, const db_spot_tiles *tiles, int names,
                            db_spot_list *list) {
    const row_search s = { .plan = plan,
                           .finder = db_spot_finder_instance(plan->context->isa),
                           .tiles = tiles,
                           .list = list,
                           .names = names };
    if (names) DB_TRY(check_names(&s, list));
    DB_TRY(search_layers(&s, list));
    const long tasks = (2L * list->search.most[0] + 1) * (long)plan->experiment.beam.source_count;
    const long pieces = tasks < MOST_PIECES ? tasks : MOST_PIECES;
    DB_TRY(make_parts(plan->context, (size_t)pieces, list));
    const int threads = db_threads_for(plan->context, pieces);
    list->count = 0;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long piece = 0; piece < pieces; piece++) {
        db_spot_list *part = &list->part[piece];
        part->count = 0;
        search_tasks(&s, tasks * piece / pieces, tasks * (piece + 1) / pieces,
                     threads > 1 ? part : list, part);
    }
    for (long piece = 0; piece < pieces; piece++)
        if (list->part[piece].status != DB_OK)
            return explain_search(plan->context, &list->part[piece]);
    return threads > 1 ? join_parts(plan->context, (size_t)pieces, threads, names, list) : DB_OK;
}

db_status db_spots_search(const db_plan *plan, const db_spot_tiles *tiles, db_spot_list *list) {
    return search_all(plan, tiles, 0, list);
}

db_status db_spots_search_names(const db_plan *plan, const db_spot_bounds *bounds,
                                db_spot_list *list) {
    DB_TRY(db_spots_search_begin(plan, bounds, NULL, list));
    return search_all(plan, NULL, 1, list);
}
