/* Lattices of every kind come back from made-up spots of a still, in any orientation, with other spots among them and a wrong
 * distance or beam; where there is no lattice none is found. */

#include "support/unit_test.h"
#include "fit/search/bravais.h"
#include "fit/search/cell_search.h"
#include "fit/search/search_spots.h"
#include "fit/rendered_image.h"
#include "base/cell_constants.h"
#include "base/degree.h"
#include "base/vector.h"
#include "support/space_groups.h"

#include <dualbragg/expert/fit_cell.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2000 };
static double wave = 1 / 0.97, distance = 350;    /* 1/A, mm */
static const double pixel = 0.172, finest = 0.28; /* mm, 1/A */
static db_context *context;
static gsl_rng *chance;

static int make(void **state) {
    (void)state;
    chance = gsl_rng_alloc(gsl_rng_mt19937);
    return chance && db_context_create(&context) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    gsl_rng_free(chance);
    db_context_destroy(&context);
    return 0;
}

/* Translations that span the lattice of a usual cell. */
static void primitive(const double cell[6], char centring, double real[9]) {
    double r[9];
    db_lattice_rows(cell, r);
    memcpy(real, r, sizeof r);
    for (int i = 0; i < 3; i++) {
        const double a = r[i], b = r[3 + i], c = r[6 + i];
        if (centring == 'I') real[6 + i] = (a + b + c) / 2;
        if (centring == 'C') real[3 + i] = (a + b) / 2;
        if (centring == 'R') real[6 + i] = (2 * a + b + c) / 3;
        if (centring == 'F')
            real[i] = (b + c) / 2, real[3 + i] = (a + c) / 2, real[6 + i] = (a + b) / 2;
    }
}

static void turn_rows(double rows[9]) {
    double axis[3], columns[9];
    gsl_ran_dir_3d(chance, &axis[0], &axis[1], &axis[2]);
    db_transpose(rows, columns);
    db_turn_columns(axis, 6.3 * gsl_rng_uniform(chance), columns);
    db_transpose(columns, rows);
}

/* What a detector that stands where it should not says of a spot at x, y (mm). Parts of a bent crystal diffract to parts of the
 * detector, and spots are off by a smooth function of their place. */
typedef struct wrong {
    double distance, fast, slow, bent; /* factor, pixels */
} wrong;
static const double bend = 25; /* mm on the detector for a radian of that function */

static db_search_spot spot_at(double at_x, double at_y, const wrong *w) {
    const double x = at_x + pixel * w->bent * sin(at_y / bend),
                 y = at_y + pixel * w->bent * cos((at_x + at_y) / bend);
    const double off[3][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 } }, z = distance * w->distance;
    double q[4][3];
    db_search_spot s = { .counts = 1 };
    for (int k = 0; k < 4; k++) {
        const double u = x + pixel * w->fast - (k < 3 ? off[k][0] * pixel : 0),
                     v = y + pixel * w->slow - (k < 3 ? off[k][1] * pixel : 0),
                     far = z * (k == 3 ? 1 + 1e-6 : 1), l = sqrt(u * u + v * v + far * far);
        const double at[3] = { wave * u / l, wave * v / l, wave * (far / l - 1) };
        memcpy(q[k], at, sizeof at);
    }
    for (int i = 0; i < 3; i++) {
        s.q[i] = q[0][i];
        for (int d = 0; d < 2; d++) s.by_beam[d][i] = q[1 + d][i] - q[0][i];
        s.by_distance[i] = (q[3][i] - q[0][i]) / 1e-6;
    }
    s.length = db_length(s.q);
    s.blur = 1.5 * pixel / distance * wave;
    return s;
}

/* Nodes within `width` (1/A) of the Ewald sphere, each with the given probability; places are right to 0.3 pixels. */
static size_t add_still(const double real[9], double width, double part, const wrong *w,
                        db_search_spot *spots, size_t count) {
    double rows[9], a_star[9];
    int most[3];
    (void)db_dual_basis(real, rows);
    db_transpose(rows, a_star);
    for (int i = 0; i < 3; i++) most[i] = (int)(finest * db_length(real + 3 * i));
    for (int h = -most[0]; h <= most[0]; h++)
        for (int k = -most[1]; k <= most[1]; k++)
            for (int l = -most[2]; l <= most[2]; l++) {
                const double index[3] = { h, k, l };
                double s1[3];
                db_apply(a_star, index, s1);
                const double length = db_length(s1);
                s1[2] += wave;
                if (length < 0.03 || length > finest || fabs(db_length(s1) - wave) > width ||
                    gsl_rng_uniform(chance) > part || count == MOST)
                    continue;
                spots[count++] =
                    spot_at(distance * s1[0] / s1[2] + gsl_ran_gaussian(chance, 0.3 * pixel),
                            distance * s1[1] / s1[2] + gsl_ran_gaussian(chance, 0.3 * pixel), w);
            }
    return count;
}

static size_t add_anywhere(size_t more, const wrong *w, db_search_spot *spots, size_t count) {
    for (size_t n = 0; n < more && count < MOST; n++)
        spots[count++] = spot_at(200 * (gsl_rng_uniform(chance) - 0.5),
                                 200 * (gsl_rng_uniform(chance) - 0.5), w);
    return count;
}

static int lower_angle_first(const void *a, const void *b) {
    const double x = ((const db_search_spot *)a)->length, y = ((const db_search_spot *)b)->length;
    return (x > y) - (x < y);
}

/* Are the translations of one lattice sums of the other's, and back, to a part of an edge? */
static int is_same_lattice(const double one[9], const double other[9], double part) {
    double inverse[9], sums[9], rounded[9], cofactors[9];
    assert_true(db_invert(other, inverse));
    db_multiply(one, inverse, sums);

    for (int i = 0; i < 9; i++) {
        rounded[i] = rint(sums[i]);
        if (fabs(sums[i] - rounded[i]) > part) return 0;
    }
    return fabs(fabs(db_cofactors(rounded, cofactors)) - 1) < 0.5;
}

/* Finds the lattice of a cell among as many other spots as a part of its own. */
static int comes_back(const double cell[6], char centring, double width, double part, double others,
                      const wrong *w, double exact) {
    db_search_spot spots[MOST];
    db_cell_found found;
    double real[9];
    primitive(cell, centring, real);
    turn_rows(real);
    const size_t own = add_still(real, width, part, w, spots, 0),
                 count = add_anywhere((size_t)(others * (double)own), w, spots, own);
    qsort(spots, count, sizeof *spots, lower_angle_first);
    assert_int_equal(db_cell_search(context, spots, count, &found), DB_OK);
    const int same =
        db_cell_is_significant(&found) && is_same_lattice(found.lattice.real, real, exact);
    if (!same)
        print_message("%g %g %g %c: %zu spots, %zu of %zu near, ln p %.0f, rows %.0f\n", cell[0],
                      cell[1], cell[2], centring, count, found.agreement.near,
                      found.agreement.count, db_agreement_log_probability(&found.agreement),
                      found.rows);
    return same;
}

static const struct {
    const char *symbol;
    double cell[6];
} kinds[] = {
    { "aP", { 31, 37, 44, 82, 76, 71 } },   { "mP", { 38, 47, 52, 90, 104, 90 } },
    { "mC", { 76, 41, 49, 90, 112, 90 } },  { "oP", { 33, 45, 61, 90, 90, 90 } },
    { "oC", { 47, 71, 39, 90, 90, 90 } },   { "oI", { 45, 58, 77, 90, 90, 90 } },
    { "oF", { 62, 81, 103, 90, 90, 90 } },  { "tP", { 58.4, 58.4, 102, 90, 90, 90 } },
    { "tI", { 57, 57, 93, 90, 90, 90 } },   { "hP", { 51, 51, 88, 90, 90, 120 } },
    { "hR", { 70, 70, 111, 90, 90, 120 } }, { "cP", { 52, 52, 52, 90, 90, 90 } },
    { "cI", { 71, 71, 71, 90, 90, 90 } },   { "cF", { 88, 88, 88, 90, 90, 90 } },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int find_kind(int k, double others, const wrong *w, double exact) {
    double real[9];
    primitive(kinds[k].cell, kinds[k].symbol[1], real);
    const double volume = fabs(db_lattice_volume(real)),
                 width = fmin(0.004, 220 / volume); /* as many spots of each */
    return comes_back(kinds[k].cell, kinds[k].symbol[1], width, 0.7, others, w, exact);
}

static const wrong right = { 1, 0, 0, 0 };

static void lattices_come_back(void **state) {
    const wrong off = { 1.01, 4, 0, 0 }, aside = { 1, -8, 8, 0 };
    (void)state;
    gsl_rng_set(chance, 3);
    assert_true(find_kind(1, 0.3, &aside, 0.05));
    assert_true(find_kind(10, 0.3, &right, 0.05));
    assert_true(find_kind(7, 0.1, &off, 0.1));
}

static void of_all_kinds_slow(void **state) {
    const wrong far = { 0.99, -3, 0, 0 };
    int back = 0, tried = 0;
    (void)state;
    gsl_rng_set(chance, 5);
    for (int n = 0; n < 4; n++)
        for (int k = 0; k < KINDS; k++, tried += 3)
            back += find_kind(k, 0, &right, 0.1) + find_kind(k, 0.7, &right, 0.1) +
                    find_kind(k, 0.1, &far, 0.1);
    print_message("%d of %d lattices came back\n", back, tried);
    assert_true(back >= 0.97 * tried);
}

/* Two crystals of one cell: one of them is found. */
static void one_of_two_crystals_slow(void **state) {
    db_search_spot spots[MOST];
    db_cell_found found;
    double real[2][9];
    size_t count = 0;
    (void)state;
    gsl_rng_set(chance, 6);
    for (int k = 0; k < 2; k++) {
        primitive(kinds[9].cell, 'P', real[k]);
        turn_rows(real[k]);
        count = add_still(real[k], 0.002, k ? 0.6 : 0.7, &right, spots, count);
    }
    qsort(spots, count, sizeof *spots, lower_angle_first);
    assert_int_equal(db_cell_search(context, spots, count, &found), DB_OK);
    assert_true(db_cell_is_significant(&found));
    assert_true(is_same_lattice(found.lattice.real, real[0], 0.05) ||
                is_same_lattice(found.lattice.real, real[1], 0.05));
}

static void no_crystal(size_t count, unsigned long seed) {
    db_search_spot spots[MOST];
    db_cell_found found;
    gsl_rng_set(chance, seed);
    add_anywhere(count, &right, spots, 0);
    qsort(spots, count, sizeof *spots, lower_angle_first);
    assert_int_equal(db_cell_search(context, spots, count, &found), DB_OK);
    assert_true(db_agreement_log_probability(&found.agreement) > -10);
    assert_false(db_cell_is_significant(&found));
}

static void none_without_a_crystal(void **state) {
    (void)state;
    no_crystal(8, 7);
    no_crystal(30, 8);
}

static void none_of_many_without_a_crystal_slow(void **state) {
    (void)state;
    for (unsigned long seed = 1; seed < 6; seed++) {
        no_crystal(20, seed);
        no_crystal(60, seed);
        no_crystal(400, seed);
    }
}

/* Spots on rows of nodes: at nodes, or anywhere along them, as if two translations were right and the third made up. */
static double on_rows(int at_nodes) {
    const double cell[6] = { 40, 47, 61, 90, 90, 90 };
    db_lattice lattice = { .distance = 0 };
    db_search_spot spots[MOST];
    double a_star[9];
    size_t count = 0;
    gsl_rng_set(chance, 9);
    db_lattice_rows(cell, lattice.real);
    assert_true(db_invert(lattice.real, a_star));
    for (int h = -6; h <= 6; h++)
        for (int k = -6; k <= 6; k++) {
            const double l = 8 * gsl_rng_uniform(chance),
                         index[3] = { h, k, at_nodes ? rint(l) : l };
            db_search_spot *const s = &spots[count++];
            *s = (db_search_spot){ .blur = 0.0005 };
            db_apply(a_star, index, s->q);
            s->length = db_length(s->q);
        }
    return db_lattice_row_probability(&lattice, DB_LATTICE_ANGLE, spots, count);
}

static void rows_alone_are_no_lattice(void **state) {
    (void)state;
    assert_true(on_rows(0) > -6);
    assert_true(on_rows(1) < -60);
}

/* Each usual cell is named, unstrained, and none of higher symmetry is. */
static void bravais_lattices_are_named(void **state) {
    db_bravais list[DB_MOST_BRAVAIS];
    int count;
    (void)state;
    gsl_rng_set(chance, 10);
    for (int k = 0; k < KINDS; k++) {
        double real[9], moved[9];
        const int skew[9] = { 1, 2, 0, 0, 1, 0, -1, 1, 1 };
        double integers[9];
        for (int i = 0; i < 9; i++) integers[i] = skew[i];
        primitive(kinds[k].cell, kinds[k].symbol[1], real);
        turn_rows(real);
        db_multiply(integers, real, moved);
        const db_status status = db_bravais_find(context, moved, list, &count);
        if (status == DB_ERROR_UNSUPPORTED) { /* the cell as it is, and what is missing */
            assert_int_equal(count, 1);
            assert_string_equal(list[0].symbol, "aP");
            assert_non_null(strstr(db_context_message(context), "gemmi"));
            skip();
        }
        assert_int_equal(status, DB_OK);
        int at = 0;
        while (at < count && list[at].strain > 1e-6) at++;
        assert_string_equal(list[at].symbol, kinds[k].symbol);
        double volume = list[at].cell[0] * list[at].cell[1] * list[at].cell[2],
               own = kinds[k].cell[0] * kinds[k].cell[1] * kinds[k].cell[2];
        for (int i = 0; i < 3 && k > 2; i++)
            assert_true(fabs(list[at].cell[3 + i] - kinds[k].cell[3 + i]) < 1e-6);
        if (k > 2) assert_true(fabs(volume / own - 1) < 1e-6);
    }
    /* the least oblique of the cells with a centred face, also where the body-centred one has shorter edges */
    double real[9];
    primitive((const double[]){ 80, 50, 60, 90, 125, 90 }, 'C', real);
    assert_int_equal(db_bravais_find(context, real, list, &count), DB_OK);
    int at = 0;
    while (at < count && list[at].strain > 1e-6) at++;
    assert_string_equal(list[at].symbol, "mC");
    assert_true(fabs(list[at].cell[0] - 80) < 1e-6 && fabs(list[at].cell[2] - 60) < 1e-6);
    assert_true(fabs(list[at].cell[4] - 125) < 1e-6);
}

/* Twice a sum of edges is even where a centring has a lattice point. */
static int has_point(const int edges[9], int centring) {
    for (int i = 0; i < 3; i++) {
        const int a = edges[i], b = edges[3 + i], c = edges[6 + i];
        if (centring == 'A' && (b + c) % 2) return 0;
        if (centring == 'B' && (a + c) % 2) return 0;
        if (centring == 'C' && (a + b) % 2) return 0;
        if (centring == 'I' && (a + b + c) % 2) return 0;
        if (centring == 'F' && ((a + b) % 2 || (b + c) % 2)) return 0;
    }
    return 1;
}

/* A symbol gets the axes that it names. */
static void is_in_setting(const char *symbol, int centring, const double real[9],
                          const db_bravais *b) {
    double edges[9], rows[9], cell[6], a_star[9];
    for (int i = 0; i < 9; i++) edges[i] = b->edges[i];
    db_multiply(edges, real, rows);
    db_cell_of_edges(rows, cell);
    if (b->symbol[1] != centring) fail_msg("%s: %s", symbol, b->symbol);
    if (!has_point(b->edges, centring)) fail_msg("%s: no lattice point", symbol);
    if (!(db_dual_basis(rows, a_star) && db_lattice_volume(rows) > 0))
        fail_msg("%s: left-handed", symbol);
    const db_cell_ties *const ties = db_cell_ties_of(symbol, cell);
    for (int i = 0; i < 6; i++) {
        if (fabs(cell[i] - b->cell[i]) > 1e-6)
            fail_msg("%s: constant %d is %g, expected %g", symbol, i, b->cell[i], cell[i]);
        if (ties->fixed[i] > 0 && fabs(cell[i] - ties->fixed[i]) > 1e-6)
            fail_msg("%s: angle %d is %g, expected %g", symbol, i, cell[i], ties->fixed[i]);
    }
}

/* Every setting of gemmi's monoclinic and orthorhombic groups is one of a found lattice, except those of larger cells (C 1 1 2,
 * F 1 2/m 1); so are both axes of R. */
static void named_settings_are_taken(void **state) {
    db_bravais list[DB_MOST_BRAVAIS];
    double real[9];
    int count;
    (void)state;
    gsl_rng_set(chance, 10);
    for (int g = 0; g < KNOWN_GROUPS; g++) {
        const known_group *const known = &known_groups[g];
        const int centring = db_lattice_letter(known->name), is_r = centring == 'R';
        char usual[3] = { known->system == 'r' ? 'h' : known->system, (char)centring, '\0' };
        if (!strchr("mo", *usual) && !is_r) continue;
        if (strncmp(known->name, "C 1 1", 5) == 0 || strncmp(known->name, "F 1 2", 5) == 0)
            continue;
        if (*usual == 'm' ? centring != 'P' : centring && strchr("AB", centring)) usual[1] = 'C';
        int k = 0;
        while (k < KINDS && strcmp(kinds[k].symbol, usual) != 0) k++;
        assert_true(k < KINDS);
        primitive(kinds[k].cell, kinds[k].symbol[1], real);
        turn_rows(real);
        if (db_bravais_find(context, real, list, &count) != DB_OK) skip();
        const int at = db_bravais_take_named(list, count, known->name, centring);
        if (at < 0) fail_msg("%s is not found", known->name);
        assert_true(list[at].strain < 1e-6);
        is_in_setting(known->name, centring, real, &list[at]);
        if (is_r && strstr(known->name, ":R"))
            assert_true(fabs(list[at].cell[0] - list[at].cell[1]) < 1e-6 &&
                        fabs(list[at].cell[3] - list[at].cell[5]) < 1e-6);
    }
    /* the I cell of mC 80 50 60 125 with the shortest edges: 60, and the sum of the edges 80 and 60 */
    primitive((const double[]){ 80, 50, 60, 90, 125, 90 }, 'C', real);
    assert_int_equal(db_bravais_find(context, real, list, &count), DB_OK);
    const int at = db_bravais_take_named(list, count, "I2", 'I');
    assert_true(at >= 0);
    const double c = sqrt(80 * 80 + 60 * 60 + 2 * 80 * 60 * cos(125 * DB_DEGREE));
    assert_true(fabs(list[at].cell[0] - 60) < 1e-6 && fabs(list[at].cell[2] - c) < 1e-6);
    assert_true(list[at].cell[4] > 90);
    /* a cubic lattice has no such setting */
    assert_int_equal(db_bravais_take_named(list, count, "F m -3 m", 'F'), -1);
}

/* What is found on an image of some crystals of the model's cell, with a detector that is said to be farther than it is, and
 * tilted by some degrees. */
static db_status find_tilted(const db_experiment *e, size_t crystals, double far, double tilt,
                             const char *symmetry, db_fit_found_cell *cell) {
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_measured_image image;
    db_crystal all[2];
    db_experiment moved;
    db_fit_settings_init(&settings);
    random_crystals(&e->crystal, 11, 2, all);
    assert_int_equal(rendered_lattices(context, e, all, crystals, 1, &image), DB_OK);
    assert_int_equal(db_experiment_copy(context, e, &moved), DB_OK);
    moved.detector.distance *= far;
    db_parameter_set(&moved, DB_DETECTOR_ROTX, tilt);
    db_parameter_set(&moved, DB_DETECTOR_ROTY, -tilt);
    db_fit_cell_spots *spots = NULL;
    db_status status = db_fit_cell_spots_add(context, &image, &settings, &moved, &spots);
    if (status == DB_OK)
        status = db_fit_find_cell_of_spots(context, &settings, spots, symmetry, 0, cell);
    db_fit_cell_spots_destroy(&spots);
    db_experiment_clear(&moved);
    db_measured_image_clear(&image);
    return status;
}

/* Spots of a reflection on two frames, 0.1 degree of the spindle apart, are one between them, with the counts of both. */
static void spots_of_neighbours_have_a_centroid(void **state) {
    (void)state;
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_experiment e;
    db_crystal crystal;
    db_measured_image image;
    db_fit_cell_spots *one = NULL, *both = NULL;
    size_t beside = 0;
    db_fit_settings_init(&settings);
    assert_int_equal(rendered_experiment(context, 600, 1000, &e), DB_OK);
    random_crystals(&e.crystal, 11, 1, &crystal);
    assert_int_equal(rendered_lattices(context, &e, &crystal, 1, 1, &image), DB_OK);
    assert_int_equal(db_fit_cell_spots_add(context, &image, &settings, &e, &one), DB_OK);
    assert_int_equal(db_fit_cell_spots_add(context, &image, &settings, &e, &both), DB_OK);
    e.goniometer.phi += 0.1;
    assert_int_equal(db_fit_cell_spots_add(context, &image, &settings, &e, &both), DB_OK);
    const size_t count = db_fit_cell_spots_count(one);
    assert_true(count > 50);
    assert_int_equal(db_fit_cell_spots_count(both), count);
    for (size_t i = 0; i < count; i++) {
        const db_search_spot *const s = &one->list.spot[i];
        double half[3], off, least = INFINITY;
        memcpy(half, s->q, sizeof half);
        db_turn(e.goniometer.spindle_axis, -0.05 * DB_DEGREE, half);
        for (size_t k = 0; k < count; k++) {
            const db_search_spot *const b = &both->list.spot[k];
            const double way[3] = { b->q[0] - half[0], b->q[1] - half[1], b->q[2] - half[2] };
            off = db_length(way);
            if (off < least) beside = k;
            least = fmin(off, least);
        }
        assert_true(least < 1e-6);
        assert_true(fabs(both->list.spot[beside].counts - 2 * s->counts) < 1e-6 * s->counts);
    }
    db_fit_cell_spots_destroy(&one);
    db_fit_cell_spots_destroy(&both);
    db_measured_image_clear(&image);
    db_experiment_clear(&e);
}

static db_status find_on(const db_experiment *e, size_t crystals, double far, const char *symmetry,
                         db_fit_found_cell *cell) {
    return find_tilted(e, crystals, far, 0, symmetry, cell);
}

static void is_thaumatin(const db_fit_found_cell *cell, double exact) {
    const db_fit_bravais *const b = &cell->lattice[cell->chosen];
    print_message("%s %g %g, %zu of %zu spots\n", b->symbol, b->cell[0], b->cell[2],
                  cell->found.indexed, cell->found.spots);
    assert_string_equal(b->symbol, cell->count > 1 ? "tP" : "aP");
    assert_true(fabs(b->cell[0] / 58.4 - 1) < exact && fabs(b->cell[2] / 152.2 - 1) < exact);
}

static void of_two_crystals_on_an_image(void **state) {
    db_experiment e;
    db_fit_found_cell cell;
    (void)state;
    assert_int_equal(rendered_experiment(context, 600, 1000, &e), DB_OK);
    assert_int_equal(find_on(&e, 2, 1.01, "", &cell), DB_OK);
    is_thaumatin(&cell, 0.015);
    assert_true(cell.count == 1 || (cell.distance > -0.02 && cell.distance < -0.005));
    assert_true(cell.lattice[cell.chosen].strain <
                0.005); /* the distance does not count as strain */
    db_experiment_clear(&e);
}

/* Edges that differ by half a percent are no edges of a tetragonal cell; a tilted detector makes no edges differ. */
static void edges_are_alike_or_not(void **state) {
    static const char *const symbol[2] = { "oP", "tP" };
    static const double longer[2] = { 1.01, 1 }, tilt[2] = { 0, 0.4 };
    db_experiment e;
    db_fit_found_cell cell;
    (void)state;
    assert_int_equal(rendered_experiment(context, 600, 1000, &e), DB_OK);
    for (int alike = 0; alike < 2; alike++) {
        e.crystal.cell[1] = longer[alike] * e.crystal.cell[0];
        assert_int_equal(find_tilted(&e, 1, alike ? 0.99 : 1, tilt[alike], "", &cell), DB_OK);
        const db_fit_bravais *const b = &cell.lattice[cell.chosen];
        for (int i = 0; i < cell.count; i++)
            print_message("%s %.3f %.3f %.3f misfit %.3f strain %.4f\n", cell.lattice[i].symbol,
                          cell.lattice[i].cell[0], cell.lattice[i].cell[1], cell.lattice[i].cell[2],
                          cell.lattice[i].misfit, cell.lattice[i].strain);
        assert_string_equal(b->symbol, cell.count > 1 ? symbol[alike] : "aP");
        if (!alike) assert_true(fabs(b->cell[1] / b->cell[0] - longer[0]) < 1e-3);
        assert_true(b->strain < 0.005);
    }
    db_experiment_clear(&e);
}

enum { STILLS = 8 };

/* Log likelihood of held-out spots of a still about a lattice with ties, beyond the one without, by the errors of this one. */
static double gained_by_ties(const double cell[6], const char *symbol) {
    static const int own[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    db_search_spot spots[MOST], others[MOST];
    unsigned char part[MOST], near[MOST];
    double at[2 * MOST];
    size_t in[DB_LATTICE_PARTS] = { 0 };
    db_lattice lattice = { .distance = 0 };
    primitive(cell, 'P', lattice.real);
    turn_rows(lattice.real);
    const size_t count = add_still(lattice.real, 0.002, 0.5, &right, spots, 0);
    db_lattice_cut_parts(spots, count, at, part);
    for (size_t i = 0; i < count; i++) in[part[i]]++;
    for (int p = 0; p < DB_LATTICE_PARTS; p++) {
        assert_true(in[p] + 2 >= count / DB_LATTICE_PARTS);
        assert_true(in[p] <= count / DB_LATTICE_PARTS + 2);
    }
    const db_lattice_evidence tied = db_lattice_held_out(
                                  &lattice, own, db_cell_ties_of(symbol, cell),
                                  DB_LATTICE_HOLDS_NOTHING, spots, count, part, others, near),
                              untied = db_lattice_held_out(
                                  &lattice, own, db_cell_ties_of("aP", cell),
                                  DB_LATTICE_HOLDS_NOTHING, spots, count, part, others, near);
    return (tied.likelihood - untied.likelihood) / untied.excess;
}

/* Ties that are right predict the spots of a quarter of the detector better than a free lattice; by the fitted spots the
 * free lattice is always the better one. */
static void right_ties_predict_better(void **state) {
    static const double cell[6] = { 33, 45, 61, 90, 90, 90 },
                        longer[6] = { 45, 45.3, 61, 90, 90, 90 };
    double gained = 0, lost = 0;
    (void)state;
    gsl_rng_set(chance, 5);
    for (int n = 0; n < STILLS; n++) gained += gained_by_ties(cell, "oP") / STILLS;
    for (int n = 0; n < STILLS; n++) lost -= gained_by_ties(longer, "tP") / STILLS;
    print_message("right ties gain %.1f, wrong ones lose %.1f\n", gained, lost);
    assert_true(gained > 2);
    assert_true(lost > 32);
}

/* Errors of a bent crystal are alike in neighbours: a lower symmetry absorbs a part of them, and predicts no better. */
static void bent_crystals_keep_their_symmetry(void **state) {
    static const double cell[6] = { 80, 80, 130, 90, 90, 90 };
    const wrong w = { 1, 0, 0, 0.4 };
    OWN(db_fit_settings_clear) db_fit_settings settings;
    (void)state;
    gsl_rng_set(chance, 12);
    db_fit_settings_init(&settings);
    for (int n = 0; n < STILLS; n++) {
        db_search_spot spots[MOST];
        db_fit_found_cell found;
        double real[9];
        primitive(cell, 'P', real);
        turn_rows(real);
        const db_fit_cell_spots still = { { add_still(real, 0.001, 0.7, &w, spots, 0), spots },
                                          1,
                                          0 };
        assert_int_equal(db_fit_find_cell_of_spots(context, &settings, &still, "", 0, &found),
                         DB_OK);
        const char *const symbol = found.lattice[found.chosen].symbol;
        print_message("%s of %zu spots\n", symbol, still.list.count);
        assert_string_equal(symbol, found.count > 1 ? "tP" : "aP");
    }
}

static void of_images_slow(void **state) {
    db_experiment e;
    db_fit_found_cell cell;
    (void)state;
    assert_int_equal(rendered_experiment(context, 600, 1000, &e), DB_OK);
    for (size_t crystals = 1; crystals <= 2; crystals++) {
        assert_int_equal(find_on(&e, crystals, 1, "", &cell), DB_OK);
        is_thaumatin(&cell, 0.003);
    }
    if (cell.count == 1) { /* without gemmi */
        assert_int_equal(find_on(&e, 1, 1, "monoclinic", &cell), DB_ERROR_UNSUPPORTED);
        assert_non_null(strstr(db_context_message(context), "gemmi"));
        db_experiment_clear(&e);
        skip();
    }
    assert_int_equal(find_on(&e, 1, 1, "monoclinic", &cell), DB_OK);
    assert_true(cell.named);
    assert_int_equal(cell.lattice[cell.chosen].symbol[0], 'm');
    assert_int_equal(find_on(&e, 1, 1, "hexagonal", &cell), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "cannot have the symmetry hexagonal"));
    assert_int_equal(find_on(&e, 0, 1, "", &cell), DB_ERROR_INPUT);
    db_experiment_clear(&e);
}

/* Spots of frames of 0.25 degree of a crystal of `rows` in a beam of electrons. The stage turns by 1.3 % less than the frames
 * say, about an axis that is off by half a degree, as on a series of cinchonine. */
static size_t add_sweep(const double rows[9], db_search_spot *spots) {
    enum { FRAMES = 200, INDEX = 12 };
    const double step = 0.25 * DB_DEGREE, turned = 0.987, said[3] = { 1, 0, 0 },
                 axis[3] = { cos(0.5 * DB_DEGREE), sin(0.5 * DB_DEGREE), 0 }, most = 0.9;
    double dual[9], a_star[9];
    size_t count = 0;
    (void)db_dual_basis(rows, dual);
    db_transpose(dual, a_star);
    for (int k = 0; k < (2 * INDEX + 1) * (2 * INDEX + 1) * (2 * INDEX + 1); k++) {
        const int side = 2 * INDEX + 1;
        const double index[3] = { k % side - INDEX, k / side % side - INDEX,
                                  k / side / side - INDEX };
        double node[3], was = 0;
        db_apply(a_star, index, node);
        if (db_length(node) < 0.1 || db_length(node) > most) continue;
        for (int f = 0; f <= FRAMES; f++) {
            double s1[3] = { node[0], node[1], node[2] };
            db_turn(axis, turned * step * (f - FRAMES / 2.0), s1);
            s1[2] += wave;
            const double above = db_length(s1) - wave;
            if (f && above * was <= 0 && gsl_rng_uniform(chance) < 0.35 && count < MOST) {
                db_search_spot *const s = &spots[count++];
                *s = spot_at(distance * s1[0] / s1[2] + gsl_ran_gaussian(chance, 0.3 * pixel),
                             distance * s1[1] / s1[2] + gsl_ran_gaussian(chance, 0.3 * pixel),
                             &right);
                double *const vector[] = { s->q, s->by_distance, s->by_beam[0], s->by_beam[1] };
                for (int v = 0; v < 4; v++)
                    db_turn(said, -step * (f - 0.5 - FRAMES / 2.0), vector[v]);
            }
            was = above;
        }
    }
    return count;
}

/* On a flat sphere the distance is no other than the given one, though errors of the turns fit a farther detector better. */
static void edges_differ_on_a_flat_sphere(void **state) {
    static const double cell[6] = { 10.73, 7.3, 11.11, 90, 108, 90 };
    const double electrons = 1 / 0.02508, camera = 1400, was[2] = { wave, distance };
    OWN(db_fit_settings_clear) db_fit_settings settings;
    (void)state;
    gsl_rng_set(chance, 13);
    db_fit_settings_init(&settings);
    wave = electrons;
    distance = camera;
    for (int n = 0; n < STILLS; n++) {
        db_search_spot spots[MOST];
        db_fit_found_cell found;
        double rows[9];
        primitive(cell, 'P', rows);
        turn_rows(rows);
        const db_fit_cell_spots sweep = { { add_sweep(rows, spots), spots }, 1, 1 };
        assert_int_equal(db_fit_find_cell_of_spots(context, &settings, &sweep, "", 0, &found),
                         DB_OK);
        const db_fit_bravais *const b = &found.lattice[found.chosen];
        print_message("%s of %zu spots, strain %.3f\n", b->symbol, sweep.list.count, b->strain);
        assert_string_equal(b->symbol, found.count > 1 ? "mP" : "aP");
        assert_true(found.distance == 0);
    }
    wave = was[0];
    distance = was[1];
}

/* The geometry tells whether the sphere is flat: on a camera twenty times as long angles are twenty times lower. */
static void a_long_camera_sees_a_flat_sphere(void **state) {
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_experiment e;
    db_crystal crystal;
    db_measured_image image;
    db_fit_cell_spots *spots = NULL;
    (void)state;
    db_fit_settings_init(&settings);
    assert_int_equal(rendered_experiment(context, 600, 1000, &e), DB_OK);
    random_crystals(&e.crystal, 11, 1, &crystal);
    assert_int_equal(rendered_lattices(context, &e, &crystal, 1, 1, &image), DB_OK);
    for (int is_flat = 0; is_flat < 2; is_flat++) {
        assert_int_equal(db_fit_cell_spots_add(context, &image, &settings, &e, &spots), DB_OK);
        assert_int_equal(spots->is_flat, is_flat);
        e.detector.distance *= 20;
    }
    db_fit_cell_spots_destroy(&spots);
    db_measured_image_clear(&image);
    db_experiment_clear(&e);
}

static db_fit_found_cell made_up(double a, double c, double likely, int fits) {
    return (db_fit_found_cell){ .found = { .log_probability = likely },
                                .reduced = { a, a, c, 90, 90, 90 },
                                .count = 2,
                                .lattice = { { "tP", { a, a, c, 90, 90, 90 }, 0, 0, 1, fits },
                                             { "aP", { a, a, c, 90, 90, 90 }, 0, 0, 1, 1 } },
                                .chosen = !fits };
}

static void most_images_win(void **state) {
    const db_fit_found_cell cells[5] = { made_up(40, 90, -500, 1), made_up(58.1, 150, -90, 1),
                                         made_up(58.4, 151, -100, 1), made_up(58.2, 153, -80, 0),
                                         made_up(60.5, 75, -300, 1) };
    db_fit_found_cell voted;
    (void)state;
    assert_int_equal(db_fit_vote_on_cell(context, cells, 5, 9, &voted), DB_OK);
    assert_int_equal(voted.agreeing, 3);
    assert_int_equal(voted.images, 9);
    assert_string_equal(voted.lattice[voted.chosen].symbol, "tP");
    assert_true(fabs(voted.lattice[0].cell[0] - 58.2) < 1e-9 &&
                fabs(voted.lattice[0].cell[2] - 151) < 1e-9);
    assert_true(voted.found.log_probability == -100);
}

/* Noise of an angle near 90 degree decides in which of two forms a cell is reduced; equal edges change places. */
static void forms_of_a_triclinic_cell_are_one(void **state) {
    (void)state;
    static const double forms[4][6] = { { 40, 50, 60, 70, 89.9, 80 },
                                        { 40.1, 50, 60, 110, 90.1, 100 },
                                        { 40, 50, 60.1, 70, 89.8, 80 },
                                        { 40, 50, 60, 110, 90.2, 100 } };
    db_fit_found_cell cells[4], voted;
    for (int k = 0; k < 4; k++) {
        cells[k] = (db_fit_found_cell){ .found = { .log_probability = -100 - k },
                                        .count = 1,
                                        .lattice = { { .symbol = "aP", .fits = 1 } } };
        memcpy(cells[k].reduced, forms[k], sizeof forms[k]);
        memcpy(cells[k].lattice[0].cell, forms[k], sizeof forms[k]);
    }
    assert_int_equal(db_fit_vote_on_cell(context, cells, 4, 4, &voted), DB_OK);
    assert_int_equal(voted.agreeing, 4);
    const double *const c = voted.lattice[0].cell;
    for (int i = 3; i < 6; i++)
        assert_true(fabs(fmin(c[i], 180 - c[i]) - (i == 3 ? 70 : i == 4 ? 89.85 : 80)) < 0.2);
    assert_true((c[3] < 90) == (c[5] < 90));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_a_triclinic_cell_are_one),
        cmocka_unit_test(lattices_come_back),
        cmocka_unit_test(of_all_kinds_slow),
        cmocka_unit_test(one_of_two_crystals_slow),
        cmocka_unit_test(none_without_a_crystal),
        cmocka_unit_test(none_of_many_without_a_crystal_slow),
        cmocka_unit_test(rows_alone_are_no_lattice),
        cmocka_unit_test(bravais_lattices_are_named),
        cmocka_unit_test(named_settings_are_taken),
        cmocka_unit_test(of_two_crystals_on_an_image),
        cmocka_unit_test(edges_are_alike_or_not),
        cmocka_unit_test(right_ties_predict_better),
        cmocka_unit_test(bent_crystals_keep_their_symmetry),
        cmocka_unit_test(edges_differ_on_a_flat_sphere),
        cmocka_unit_test(a_long_camera_sees_a_flat_sphere),
        cmocka_unit_test(spots_of_neighbours_have_a_centroid),
        cmocka_unit_test(of_images_slow),
        cmocka_unit_test(most_images_win),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
