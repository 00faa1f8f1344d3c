/* Where spots in closed form are looked for: no spot lacks a pixel in which it counts, neither
 * beyond its box nor because the search passed over its reflection. Every pixel is asked, of
 * every node. */
#include "engine/spot_bounds.h"
#include "engine/spot_search.h"
#include "support/context.h"

#include "base/vector.h"

#include <dualbragg/dualbragg.h>

#include <stdlib.h>
#include <string.h>

enum { CELL = 60 };

/* A cubic crystal of cell 60 in front of 64 x 64 pixels of 0.8 mm. */
static db_experiment start(double mosaic, double cells, double distance) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = CELL;
        e.crystal.Ncells[i] = cells;
        e.crystal.misset[i] = 11 + 17 * i;
    }
    e.structure_factors.default_F = 100;
    e.detector.distance = distance;
    for (int i = 0; i < 2; i++) {
        e.detector.panels[0].pixel_size[i] = 0.8;
        e.detector.centre[i] = 25.6;
    }
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = 64;
    e.spread.spots = DB_SPOTS_CLOSED;
    e.spread.mosaic = mosaic * mosaic;
    return e;
}

static size_t node_number(int most, const int hkl[3]) {
    const size_t side = 2 * (size_t)most + 1;
    return ((size_t)(hkl[0] + most) * side + (size_t)(hkl[1] + most)) * side +
           (size_t)(hkl[2] + most);
}

typedef struct {
    db_plan *plan;
    db_spot_bounds bounds;
    double *direction; /* [pixels][3] */
    int most;
    const db_spot_entry **entry; /* [nodes][DB_SPOT_MOST_PASSAGES] */
    size_t spots, reached;       /* seen by the test */
    double margin;               /* pixels: sum over spots of how much larger boxes are */
} search_check;

static void lay_out_pixels(search_check *s) {
    const db_kernel_panel *p = &s->plan->values.panel[0];
    const db_panel *own = &s->plan->experiment.detector.panels[0];
    s->direction =
        malloc((size_t)own->fast_pixels * (size_t)own->slow_pixels * 3 * sizeof *s->direction);
    double *d = s->direction;
    for (int slow = 0; slow < own->slow_pixels; slow++)
        for (int fast = 0; fast < own->fast_pixels; fast++, d += 3) {
            for (int c = 0; c < 3; c++)
                d[c] = p->origin[c] + (fast + 0.5) * p->pixel_size[0] * p->fast[c] +
                       (slow + 0.5) * p->pixel_size[1] * p->slow[c];
            const double length = db_length(d);
            for (int c = 0; c < 3; c++) d[c] /= length;
        }
}

/* Whether a spot counts in direction d. The cap has a mirror image beyond |rho| from where the node
 * points, far from the sphere: no spot. */
static int counts(const db_spot_values *v, int moves, double cut, double rho, const double d[3]) {
    double c[3], z[3], x[3], row[3];
    db_vector_out(v->centre, c);
    for (int i = 0; i < 3; i++) x[i] = d[i] - v->ray[i] * (1 + v->distance);
    if (db_length(x) > rho * (moves ? 1.2 : 1)) return 0;
    for (int i = 0; i < 3; i++) x[i] = d[i] - c[i];
    for (int i = 0; i < 3; i++) {
        db_vector_out(v->white.r[i], row);
        z[i] = db_dot(row, x);
    }
    if (moves) z[2] = fmax(0, fmax(v->from.v - z[2], z[2] - v->to.v));
    return db_dot(z, z) < cut;
}

/* How far from its centre a spot can count: |z| >= |d - c|/sqrt(trace S); |d - c| >= | |c| - 1 |. */
static double farthest(const db_spot_values *v, int moves, double cut) {
    double way = 0;
    if (moves)
        for (int i = 0; i < 3; i++) {
            double row[3];
            db_vector_out(v->root.r[i], row);
            way += row[2] * row[2];
        }
    const double trace = v->covariance[0].v + v->covariance[1].v + v->covariance[2].v;
    return sqrt(cut * trace) + sqrt(way) * fmax(fabs(v->from.v), fabs(v->to.v));
}

static void check_spot(search_check *s, const db_spot_name *name, const db_spot_entry *entry) {
    const db_experiment *e = &s->plan->experiment;
    const db_panel *own = &e->detector.panels[0];
    const int moves = name->passage.moves;
    const db_spot_values v = spot_at_double_0(e, &s->plan->values.interface, NULL, name);
    double amplitude = v.amplitude.v;
    if (moves) amplitude *= fmin(1, 0.4 * (v.to.v - v.from.v));
    const double cut = db_spot_cut(&s->bounds, amplitude);
    if (!(cut > 0)) return;
    double c[3];
    db_vector_out(v.centre, c);
    const double reach = farthest(&v, moves, cut);
    if (!(fabs(db_length(c) - 1) < reach)) return;
    int fast[2] = { own->fast_pixels, -1 }, slow[2] = { own->slow_pixels, -1 };
    s->spots++;
    const double rho =
        sqrt(v3_square_double_0(spot_turn_of_double_0(&s->plan->values.interface, name).r).v) /
        s->plan->values.interface.source[0].kappa.v;
    const double *d = s->direction;
    for (int j = 0; j < own->slow_pixels; j++)
        for (int i = 0; i < own->fast_pixels; i++, d += 3) {
            const double x[3] = { d[0] - c[0], d[1] - c[1], d[2] - c[2] };
            if (db_dot(x, x) > 1.000001 * reach * reach || !counts(&v, moves, cut, rho, d))
                continue;
            if (i < fast[0]) fast[0] = i;
            if (i > fast[1]) fast[1] = i;
            if (j < slow[0]) slow[0] = j;
            slow[1] = j;
        }
    if (fast[1] < 0) return;
    s->reached++;
    if (!entry)
        fail_msg("reflection %d %d %d is not found; it reaches pixels %d to %d, %d to %d",
                 name->hkl[0], name->hkl[1], name->hkl[2], fast[0], fast[1], slow[0], slow[1]);
    if (fast[0] < entry->fast[0] || fast[1] >= entry->fast[1] || slow[0] < entry->slow[0] ||
        slow[1] >= entry->slow[1])
        fail_msg("reflection %d %d %d reaches pixels %d to %d, %d to %d; its box is %d to %d, %d "
                 "to %d",
                 name->hkl[0], name->hkl[1], name->hkl[2], fast[0], fast[1], slow[0], slow[1],
                 entry->fast[0], entry->fast[1] - 1, entry->slow[0], entry->slow[1] - 1);
    s->margin += (double)(entry->fast[1] - entry->fast[0]) * (entry->slow[1] - entry->slow[0]) /
                 ((fast[1] - fast[0] + 1.0) * (slow[1] - slow[0] + 1.0));
}

static void check_node(search_check *s, const int hkl[3]) {
    const db_experiment *e = &s->plan->experiment;
    db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
    const int passages = db_spot_passages(e, &s->plan->values.interface, 0, hkl, passage);
    for (int i = 0; i < passages; i++) {
        const db_spot_name name = { { hkl[0], hkl[1], hkl[2] }, 0, 0, 0, passage[i] };
        check_spot(s, &name,
                   s->entry[node_number(s->most, hkl) * DB_SPOT_MOST_PASSAGES + (size_t)i]);
    }
}

static void check_search(const char *what, db_experiment *e, double tolerance) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = DB_PRECISION_DOUBLE;
    search_check s = { 0 };
    db_spot_list list = { 0 };
    options.tolerance = tolerance;
    assert_int_equal(db_plan_create(context, e, &options, &s.plan), DB_OK);
    s.bounds = db_spot_bounds_of(s.plan);
    lay_out_pixels(&s);
    assert_int_equal(db_spots_search_begin(s.plan, &s.bounds, NULL, &list), DB_OK);
    assert_int_equal(db_spots_search(s.plan, NULL, &list), DB_OK);
    s.most = (int)(1.1 * s.bounds.longest * CELL) + 1;
    const size_t side = 2 * (size_t)s.most + 1;
    s.entry = calloc(side * side * side * DB_SPOT_MOST_PASSAGES, sizeof *s.entry);
    for (size_t n = 0; n < list.count; n++) {
        db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
        const db_spot_name *name = &list.entry[n].name;
        const int passages = db_spot_passages(e, &s.plan->values.interface, 0, name->hkl, passage);
        for (int i = 0; i < passages; i++)
            if (passage[i].at == name->passage.at)
                s.entry[node_number(s.most, name->hkl) * DB_SPOT_MOST_PASSAGES + (size_t)i] =
                    &list.entry[n];
    }
    for (int h = -s.most; h <= s.most; h++)
        for (int k = -s.most; k <= s.most; k++)
            for (int l = -s.most; l <= s.most; l++) {
                const int hkl[3] = { h, k, l };
                if (h || k || l) check_node(&s, hkl);
            }
    print_message("%s: %zu spots listed, %zu near the sphere, %zu reach pixels; boxes are %.2f "
                  "times as large as needed\n",
                  what, list.count, s.spots, s.reached, s.margin / (double)s.reached);
    assert_true(s.reached > 0);
    free(s.entry);
    free(s.direction);
    db_spot_list_clear(&list);
    db_plan_destroy(&s.plan);
    db_experiment_clear(e);
}

static void wide_mosaic(void **state) {
    (void)state;
    db_experiment e = start(1, 30, 100);
    check_search("1 degree", &e, 0);
    e = start(1, 30, 100);
    check_search("1 degree, with a tolerance", &e, 1e-3);
}

static void high_angles(void **state) {
    (void)state;
    db_experiment e = start(0.5, 30, 100);
    e.detector.centre[0] = -60;
    check_search("high angles", &e, 0);
}

static void bandwidth(void **state) {
    (void)state;
    db_experiment e = start(0.4, 5, 100);
    e.spread.bandwidth = 100;
    check_search("bandwidth of 1 %", &e, 0);
}

/* Most of the spots that reach such a panel lie beside it. */
static void small_panel(void **state) {
    (void)state;
    for (int turns = 0; turns < 2; turns++) {
        db_experiment e = start(1, 30, 100);
        db_panel *panel = &e.detector.panels[0];
        e.goniometer.phi_step = turns;
        panel->fast_pixels = panel->slow_pixels = 24;
        panel->pixel_size[0] = panel->pixel_size[1] = 0.25;
        e.detector.centre[0] = -25;
        check_search(turns ? "small panel, rotation" : "small panel", &e, 0);
    }
}

static void rotation(void **state) {
    (void)state;
    db_experiment e = start(1, 30, 100);
    e.goniometer.phi_step = 2;
    check_search("rotation of 2 degree", &e, 0);
}

static void far_panel(void **state) {
    (void)state;
    db_experiment e = start(2, 30, 400);
    check_search("low angles, 2 degree", &e, 0);
    e = start(2, 30, 400);
    check_search("low angles, 2 degree, with a tolerance", &e, 1e-3);
    e = start(0.3, 30, 400);
    check_search("low angles, 0.3 degree, with a tolerance", &e, 1e-3);
}

static void render(const db_experiment *e, const db_region *regions, size_t count, double *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.pixel_type = DB_FLOAT64;
    options.tolerance = 1e-3;
    options.regions = regions;
    options.region_count = count;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
}

/* No spot is left out because the search sees no region near it. */
static void regions_show_what_the_whole_image_shows(void **state) {
    (void)state;
    enum { PIXELS = 256, SIDE = 5, ROW = 6 };
    static double whole[PIXELS * PIXELS], parts[ROW * ROW * SIDE * SIDE];
    db_region region[ROW * ROW];
    db_experiment e = start(0.5, 30, 100);
    db_panel *panel = &e.detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = PIXELS;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.2;
    for (int i = 0; i < ROW * ROW; i++)
        region[i] = (db_region){ .fast_start = 3 + i % ROW * 49,
                                 .slow_start = 1 + i / ROW * 50,
                                 .fast_count = SIDE,
                                 .slow_count = SIDE,
                                 .offset = (size_t)i * SIDE * SIDE,
                                 .stride = SIDE };
    render(&e, NULL, 0, whole);
    render(&e, region, ROW * ROW, parts);
    for (size_t i = 0; i < ROW * ROW; i++)
        for (int k = 0; k < SIDE * SIDE; k++) {
            const int fast = region[i].fast_start + k % SIDE,
                      slow = region[i].slow_start + k / SIDE;
            assert_true(parts[i * SIDE * SIDE + (size_t)k] == whole[slow * PIXELS + fast]);
        }
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_show_what_the_whole_image_shows),
        cmocka_unit_test(wide_mosaic),
        cmocka_unit_test(high_angles),
        cmocka_unit_test(bandwidth),
        cmocka_unit_test(rotation),
        cmocka_unit_test(small_panel),
        cmocka_unit_test(far_panel),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
