/* Structure factors of coordinates: against sums over atoms written here, and those of other
 * programs. */
#define _POSIX_C_SOURCE 200809L
#include "support/expect.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>
#include <dualbragg/version.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/site_curves.h>

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static const double pi = 3.14159265358979323846;

static db_structure_factors factors;
static char told[300];

static db_status calculate(const char *path, const db_structure_factor_options *options) {
    factors.default_F = -1;
    return db_read_structure_factors(test_context(), path, options, &factors, told, sizeof told);
}

static double entry(const db_structure_factors *of, const int index[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int from = index[i] - of->min[i];
        if (from < 0 || from >= of->extent[i]) return -1;
        at = at * (size_t)of->extent[i] + (size_t)from;
    }
    return of->amplitude[at];
}

static double amplitude(int h, int k, int l) {
    const int index[3] = { h, k, l };
    return entry(&factors, index);
}

static void forget(db_structure_factors *of) {
    free(of->amplitude);
    free(of->sites);
    memset(of, 0, sizeof *of);
}

/* Form factors of the International Tables C (1992), 6.1.1.4, and f', f'' of 1.5418 A, 4.2.6.8. */
typedef struct element {
    double a[4], b[4], c, real, imaginary;
} element;
enum { CARBON, NITROGEN, OXYGEN, SULFUR };
static const element elements[] = {
    { { 2.31, 1.02, 1.5886, 0.865 }, { 20.8439, 10.2075, 0.5687, 51.6512 }, 0.2156, 0.018, 0.009 },
    { { 12.2126, 3.1322, 2.0125, 1.1663 },
      { 0.0057, 9.8933, 28.9975, 0.5826 },
      -11.529,
      0.030,
      0.018 },
    { { 3.0485, 2.2868, 1.5463, 0.867 },
      { 13.2771, 5.7011, 0.3239, 32.9089 },
      0.2508,
      0.048,
      0.032 },
    { { 6.9053, 5.2034, 1.4379, 1.5863 },
      { 1.4679, 22.2151, 0.2536, 56.172 },
      0.8669,
      0.319,
      0.557 },
};

typedef struct site {
    int element;
    double at[3], occupancy, b, u[6]; /* u: 11, 22, 33, 12, 13, 23 (A^2); all 0: b counts */
} site;

static const site sites[] = {
    { SULFUR, { 5.123, 6.5, 7.9 }, 1, 12, { 0 } },
    { CARBON, { 6.2, 7.7, 8.3 }, 1, 20, { 0 } },
    { NITROGEN, { 9.4, 2.7, 1.1 }, 0.6, 25.5, { 0 } },
    { OXYGEN, { 17.25, 14.1, 3.3 }, 1, 15.79, { .2, .35, .15, .05, -.03, .02 } },
    { SULFUR, { -3.1, 30.5, 11.75 }, 0.25, 40, { 0 } },
    { CARBON, { 7.5, 7.1, 9.2 }, 1, 8, { 0 } },
};
enum { SITES = sizeof sites / sizeof *sites };

/* P 21 21 21 */
static const double turns[4][3] = { { 1, 1, 1 }, { -1, -1, 1 }, { -1, 1, -1 }, { 1, -1, -1 } };
static const double shifts[4][3] = { { 0, 0, 0 }, { .5, 0, .5 }, { 0, .5, .5 }, { .5, .5, 0 } };
static const double edges[3] = { 28.5, 33, 24.25 };

/* Sum over a site's mates of occupancy, Debye-Waller factor and phase. */
static double complex mates_of(const site *p, const int hkl[3]) {
    double s[3];
    double complex sum = 0;
    for (int i = 0; i < 3; i++) s[i] = hkl[i] / edges[i];
    const double square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    for (int o = 0; o < 4; o++) {
        double phase = 0, v[3]; /* s in the frame of the site */
        for (int i = 0; i < 3; i++) {
            phase += hkl[i] * (turns[o][i] * p->at[i] / edges[i] + shifts[o][i]);
            v[i] = turns[o][i] * s[i];
        }
        const double *const u = p->u;
        const double moved = u[0] == 0 ? p->b * square / 4
                                       : 2 * pi * pi *
                                             (u[0] * v[0] * v[0] + u[1] * v[1] * v[1] +
                                              u[2] * v[2] * v[2] + 2 * u[3] * v[0] * v[1] +
                                              2 * u[4] * v[0] * v[2] + 2 * u[5] * v[1] * v[2]);
        sum += p->occupancy * exp(-moved) * cexp(2 * pi * I * phase);
    }
    return sum;
}

/* kept: a bit for each site without f' and f''; -1: none has them. */
static double complex sum_over_atoms(const int hkl[3], int kept) {
    double complex sum = 0;
    double square = 0;
    for (int i = 0; i < 3; i++) square += pow(hkl[i] / edges[i], 2);
    for (int n = 0; n < SITES; n++) {
        const element *const e = &elements[sites[n].element];
        double f = e->c;
        for (int i = 0; i < 4; i++) f += e->a[i] * exp(-e->b[i] * square / 4);
        sum += (f + (kept >> n & 1 ? 0 : e->real + I * e->imaginary)) * mates_of(&sites[n], hkl);
    }
    return sum;
}

static double direct_sum(const int hkl[3], int anomalous) {
    return cabs(sum_over_atoms(hkl, anomalous ? 0 : -1));
}

static const char *pdb_file(void) {
    static const char *const symbols[] = { "C", "N", "O", "S" };
    static char text[4000];
    int size = snprintf(text, sizeof text, "CRYST1%9.3f%9.3f%9.3f%7.2f%7.2f%7.2f P 21 21 21    4\n",
                        edges[0], edges[1], edges[2], 90., 90., 90.);
    for (int n = 0; n < SITES; n++) {
        const site *const p = &sites[n];
        const char *const symbol = symbols[p->element];
        size +=
            snprintf(text + size, sizeof text - (size_t)size,
                     "HETATM%5d  %-3s LIG A%4d    %8.3f%8.3f%8.3f%6.2f%6.2f          %2s\n", n + 1,
                     symbol, n + 1, p->at[0], p->at[1], p->at[2], p->occupancy, p->b, symbol);
        if (p->u[0] != 0)
            size += snprintf(text + size, sizeof text - (size_t)size,
                             "ANISOU%5d  %-3s LIG A%4d  %7.0f%7.0f%7.0f%7.0f%7.0f%7.0f      %2s\n",
                             n + 1, symbol, n + 1, 1e4 * p->u[0], 1e4 * p->u[1], 1e4 * p->u[2],
                             1e4 * p->u[3], 1e4 * p->u[4], 1e4 * p->u[5], symbol);
    }
    snprintf(text + size, sizeof text - (size_t)size, "END\n");
    return folder_text("small.pdb", text);
}

static const char *cif_file(void) {
    static const char *const symbols[] = { "C", "N", "O", "S" };
    static char text[6000];
    int size =
        snprintf(text, sizeof text,
                 "data_small\n_cell.length_a %g\n_cell.length_b %g\n_cell.length_c %g\n"
                 "_cell.angle_alpha 90\n_cell.angle_beta 90\n_cell.angle_gamma 90\n"
                 "_symmetry.space_group_name_H-M 'P 21 21 21'\nloop_\n_atom_site.group_PDB\n"
                 "_atom_site.id\n_atom_site.type_symbol\n_atom_site.label_atom_id\n"
                 "_atom_site.label_alt_id\n_atom_site.label_comp_id\n_atom_site.label_asym_id\n"
                 "_atom_site.label_seq_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n"
                 "_atom_site.Cartn_z\n_atom_site.occupancy\n_atom_site.B_iso_or_equiv\n"
                 "_atom_site.auth_seq_id\n_atom_site.auth_asym_id\n",
                 edges[0], edges[1], edges[2]);
    for (int n = 0; n < SITES; n++) {
        const site *const p = &sites[n];
        size += snprintf(text + size, sizeof text - (size_t)size,
                         "HETATM %d %s \"%s'\" . LIG A . %g %g %g %g %g %d A\n", n + 1,
                         symbols[p->element], symbols[p->element], p->at[0], p->at[1], p->at[2],
                         p->occupancy, p->b, n + 1);
    }
    size += snprintf(text + size, sizeof text - (size_t)size,
                     "loop_\n_atom_site_anisotrop.id\n_atom_site_anisotrop.U[1][1]\n"
                     "_atom_site_anisotrop.U[2][2]\n_atom_site_anisotrop.U[3][3]\n"
                     "_atom_site_anisotrop.U[1][2]\n_atom_site_anisotrop.U[1][3]\n"
                     "_atom_site_anisotrop.U[2][3]\n");
    for (int n = 0; n < SITES; n++)
        if (sites[n].u[0] != 0)
            size += snprintf(text + size, sizeof text - (size_t)size, "%d %g %g %g %g %g %g\n",
                             n + 1, sites[n].u[0], sites[n].u[1], sites[n].u[2], sites[n].u[3],
                             sites[n].u[4], sites[n].u[5]);
    return folder_text("small.cif", text);
}

/* Largest difference from the sum over atoms, as part of the largest amplitude; and the number of
 * reflections to dmin. */
static double worst_difference(double dmin, int anomalous, size_t *count) {
    double worst = 0, largest = 0;
    const int *const n = factors.extent;
    *count = 0;
    for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int hkl[3] = { factors.min[0] + i / (n[1] * n[2]), factors.min[1] + i / n[2] % n[1],
                             factors.min[2] + i % n[2] };
        double square = 0;
        for (int k = 0; k < 3; k++) square += pow(hkl[k] / edges[k], 2);
        const int inside = square > 0 && square <= 1 / (dmin * dmin);
        assert_int_equal(inside, factors.amplitude[i] >= 0);
        if (!inside) continue;
        const double expected = direct_sum(hkl, anomalous);
        worst = fmax(worst, fabs(factors.amplitude[i] - expected));
        largest = fmax(largest, expected);
        ++*count;
    }
    assert_int_equal(*count, factors.listed);
    return worst / largest;
}

static void a_model_scatters_as_the_sum_over_its_atoms(void **state) {
    (void)state;
    size_t count;
    for (int anomalous = 0; anomalous < 2; anomalous++)
        for (int cif = 0; cif < 2; cif++) {
            const db_structure_factor_options options = { .dmin = 1.7,
                                                          .wavelength = anomalous ? 1.5418 : 0,
                                                          .cell = (const double[]){ 28, 33, 24, 90,
                                                                                    90, 90 } };
            expect_ok(test_context(), calculate(cif ? cif_file() : pdb_file(), &options));
            const double worst = worst_difference(options.dmin, anomalous, &count);
            print_message("%s: %zu reflections, worst %.2g of the largest\n", told, count, worst);
            assert_true(count > 15000 &&
                        worst < (anomalous ? 2e-3 : 2e-4)); /* tables of f' differ */
            assert_non_null(strstr(told, "F of 6 atoms, P 21 21 21, to 1.7 A, no solvent"));
            const double pair = amplitude(3, 2, 5) - amplitude(-3, -2, -5);
            const double equivalent = amplitude(3, 2, 5) - amplitude(-3, -2, 5);
            assert_true(anomalous ? fabs(pair) > 0.1 : fabs(pair) < 1e-4);
            assert_true(fabs(equivalent) < 1e-4);
            forget(&factors);
        }
}

/* kept: bits of the sites of each kind. Geometric factors are exact, the rest has the error of its grid. */
static void compare_parts(const int *kept, int kinds) {
    const db_site_kinds *const made = factors.sites;
    const int *const n = factors.extent;
    double worst = 0, largest = 0;
    int all = 0;
    assert_non_null(made);
    assert_int_equal(made->count, kinds);
    for (int k = 0; k < kinds; k++) all |= kept[k];
    for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int hkl[3] = { factors.min[0] + i / (n[1] * n[2]), factors.min[1] + i / n[2] % n[1],
                             factors.min[2] + i % n[2] };
        const double *const part = made->part + 2 * (1 + kinds) * i;
        if (factors.amplitude[i] == factors.default_F) {
            for (int k = 0; k < 2 * kinds + 2; k++)
                assert_true(part[k] == (k == 0 ? factors.default_F : 0));
            continue;
        }
        const double complex rest = sum_over_atoms(hkl, all);
        worst = fmax(worst, cabs(part[0] + I * part[1] - rest));
        largest = fmax(largest, cabs(rest));
        for (int k = 0; k < kinds; k++) {
            double complex g = 0;
            for (int s = 0; s < SITES; s++)
                if (kept[k] >> s & 1) g += mates_of(&sites[s], hkl);
            assert_true(cabs(part[2 + 2 * k] + I * part[3 + 2 * k] - g) < 1e-5);
        }
    }
    print_message("rest of all but %d kinds: worst %.2g of the largest\n", kinds, worst / largest);
    assert_true(worst < 2e-3 * largest);
}

static void sites_are_kept_apart(void **state) {
    (void)state;
    static const char *const names[2][3] = { { "A/LIG.1:S", "LIG:O+LIG:C", "LIG:S" },
                                             { "A/LIG.1:S'", "LIG:O'+LIG:C'", "LIG:S'" } };
    for (int cif = 0; cif < 2; cif++) {
        db_site_choice choice[2] = { { .sites = names[cif][0] }, { .sites = names[cif][1] } };
        const db_structure_factor_options options = {
            .dmin = 2.5, .wavelength = 1.5418, .choice = choice, .choice_count = 2
        };
        expect_ok(test_context(), calculate(cif ? cif_file() : pdb_file(), &options));
        compare_parts((int[]){ 1, 2 + 8 + 32 }, 2); /* the other sulphur stays in the rest */
        assert_true(choice[0].found == 1 && choice[1].found == 3);
        assert_string_equal(choice[0].element, "S");
        assert_string_equal(choice[1].element, "");
        assert_string_equal(factors.sites->kind[1].name, names[cif][1]);
        forget(&factors);
        choice[0].sites = names[cif][2];
        const db_structure_factor_options one = { .dmin = 2.5,
                                                  .choice = choice,
                                                  .choice_count = 1 };
        expect_ok(test_context(), calculate(cif ? cif_file() : pdb_file(), &one));
        assert_true(choice[0].found == 2);
        forget(&factors);
    }
    static const struct {
        const char *first, *second, *message;
    } bad[] = { { "LIG:SG", NULL, "expected atoms LIG:SG, found none" },
                { "B/LIG:S", NULL, "found none" },
                { "LIG.7:S", NULL, "found none" },
                { "LIG:S+LIG:FE", NULL, "expected atoms LIG:FE" },
                { "LIG:S", "LIG.1:S", "is of two kinds" },
                { "S", NULL, "such as FES:FE1, found 'S'" },
                { ":S", NULL, "found ':S'" },
                { "LIG:", NULL, "found 'LIG:'" },
                { "/LIG:S", NULL, "found '/LIG:S'" },
                { "LIG:S+", NULL, "found ''" },
                { "", NULL, "found ''" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        db_site_choice choice[2] = { { .sites = bad[i].first }, { .sites = bad[i].second } };
        const db_structure_factor_options options = { .dmin = 6,
                                                      .choice = choice,
                                                      .choice_count = bad[i].second ? 2 : 1 };
        expect_failure(test_context(), DB_ERROR_INPUT, calculate(pdb_file(), &options), "small.pdb",
                       bad[i].message);
    }
    db_site_choice choice = { .sites = "LIG:S" };
    const db_structure_factor_options options = { .dmin = 6, .choice = &choice, .choice_count = 1 };
    expect_failure(test_context(), DB_ERROR_USAGE,
                   calculate(folder_text("list.hkl", "1 0 0 5\n"), &options), "list.hkl",
                   "expected coordinates");
}

static double with_ball(int h, double radius) {
    const double square = h * h / 400.0, x = 2 * pi * sqrt(square) * radius;
    const double ball = 4 * pi * pow(radius, 3) * (sin(x) - x * cos(x)) / (x * x * x);
    const element *const e = &elements[CARBON];
    double f = e->c;
    for (int i = 0; i < 4; i++) f += e->a[i] * exp(-e->b[i] * square / 4);
    return 0.35 * exp(-46 * square / 4) * ball - f * exp(-20 * square / 4);
}

/* Around one atom the solvent leaves out a ball of 1.775 + 1.11 - 0.9 A, on a grid of 1/3 A; atoms
 * of hydrogen leave out nothing. */
static void solvent_fills_what_atoms_leave(void **state) {
    (void)state;
    const char *const path = folder_text(
        "one.pdb",
        "CRYST1   20.000   20.000   20.000  90.00  90.00  90.00 P 1           1\n"
        "HETATM    1  C   LIG A   1      10.000  10.000  10.000  1.00 20.00           C\n"
        "HETATM    2  H   LIG A   1      13.900  13.900  13.900  0.00 20.00           H\n");
    const db_structure_factor_options options = { .dmin = 1, .k_sol = 0.35, .b_sol = 46 };
    expect_ok(test_context(), calculate(path, &options));
    for (int h = 1; h <= 3; h++) {
        const double least = with_ball(h, 1.985), most = with_ball(h, 1.985 + 0.2);
        if (!(amplitude(h, 0, 0) >= least && amplitude(0, h, 0) <= most))
            fail_msg("%d 0 0: expected %g to %g, found %g", h, least, most, amplitude(h, 0, 0));
    }
    forget(&factors);
}

static const char *changed(const char *line, const char *with) {
    static char text[1000];
    static const char cryst[] = "CRYST1   28.500   33.000   24.250  90.00  90.00  90.00 P 21 21 21";
    static const char atom[] =
        "HETATM    1  S   LIG A   1       5.123   6.500   7.900  1.00 12.00           S";
    snprintf(text, sizeof text, "%s\n%s\n", strcmp(line, "CRYST1") == 0 ? with : cryst,
             strcmp(line, "ATOM") == 0 ? with : atom);
    return folder_text("changed.pdb", text);
}

static void what_a_model_lacks_is_named(void **state) {
    (void)state;
    db_context *const context = test_context();
    const db_structure_factor_options good = { .dmin = 3 };
    static const struct {
        const char *line, *with, *message;
    } bad[] = {
        { "CRYST1", "CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1", "unit cell" },
        { "CRYST1", "REMARK no cell", "unit cell" },
        { "CRYST1", "CRYST1   28.500   33.000   24.250  90.00  90.00 180.00 P 1", "unit cell" },
        { "CRYST1", "CRYST1   28.500   33.000   24.250  90.00   1.00  90.00 P 1", "unit cell" },
        { "CRYST1", "CRYST1   28.500   33.000   24.250  90.00  90.00  90.00 P 99", "'P 99'" },
        { "CRYST1", "CRYST1   28.500   33.000   24.250  90.00  90.00  90.00", "space group" },
        { "CRYST1", "CRYST1 9999.000 9999.000 9999.000  90.00  90.00  90.00 P 1", "2^31" },
        { "ATOM", "REMARK", "atoms" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123   6.500   7.900  1.00-12.00           S",
          "B factor" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123   6.500   7.900 -1.00 12.00           S",
          "occupancy" },
        { "ATOM", "HETATM    1  S   LIG A   1      1e9      6.500   7.900  1.00 12.00           S",
          "coordinates" },
        { "ATOM", "HETATM    1  S   LIG A   1         nan   6.500   7.900  1.00 12.00           S",
          "changed.pdb:2: expected a number as x, found 'nan'" },
        { "ATOM", "HETATM    1  Q   LIG A   1       5.123   6.500   7.900  1.00 12.00           Q",
          "element" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123", "changed.pdb" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const path = changed(bad[i].line, bad[i].with);
        expect_failure(context, DB_ERROR_INPUT, calculate(path, &good), "changed.pdb",
                       bad[i].message);
        assert_null(factors.amplitude);
    }
    const db_structure_factor_options coarse = { .dmin = 20 };
    const db_structure_factor_options coarsest = { .dmin = 1000 };
    const db_structure_factor_options flooded = { .dmin = 10, .k_sol = 0.35, .b_sol = 46 };
    expect_failure(context, DB_ERROR_INPUT, calculate(pdb_file(), &coarsest), "small.pdb",
                   "longest edge of its cell, 33 A, found 1000 A");
    expect_failure(
        context, DB_ERROR_INPUT,
        calculate(changed("CRYST1", "CRYST1   28.500   33.000    5.000  90.00  90.00  90.00 P 1"),
                  &flooded),
        "changed.pdb", "28.5 x 33 x 5 A at a resolution of 10 A", "no solvent");
    expect_failure(
        context, DB_ERROR_INPUT,
        calculate(changed("CRYST1", "CRYST1 3000.000 3000.000 3000.000  90.00  90.00  90.00 P 1"),
                  &coarse),
        "changed.pdb", "2.7e+10 A^3", "mistyped");
    const char *const path = pdb_file();
    const db_structure_factor_options none = { .dmin = 0 };
    const db_structure_factor_options group = { .dmin = 3, .space_group = "P 3" };
    const db_structure_factor_options columns = { .dmin = 3, .columns = "F" };
    const db_structure_factor_options solvent = { .dmin = 3, .k_sol = NAN };
    const db_structure_factor_options fine = { .dmin = 1e-3 };
    const db_structure_factor_options cell = { .dmin = 3,
                                               .cell =
                                                   (const double[]){ 28.5, 33, 31, 90, 90, 90 } };
    expect_failure(context, DB_ERROR_USAGE, calculate(path, NULL), "small.pdb", "resolution");
    expect_failure(context, DB_ERROR_USAGE, calculate(path, &none), "small.pdb", "resolution");
    expect_failure(context, DB_ERROR_USAGE, calculate(path, &group), "P 3");
    expect_failure(context, DB_ERROR_USAGE, calculate(path, &columns), "columns");
    expect_failure(context, DB_ERROR_USAGE, calculate(path, &solvent), "solvent");
    expect_failure(context, DB_ERROR_INPUT, calculate(path, &fine), "small.pdb");
    expect_failure(context, DB_ERROR_INPUT, calculate(path, &cell), "small.pdb",
                   "28.5 33 24.25 90 90 90", "28.5 33 31 90 90 90");
}

/* A PDB file's numbers have columns of their own. */
static void what_is_no_number_in_a_model_is_named(void **state) {
    (void)state;
    static const struct {
        const char *line, *with, *message;
    } bad[] = {
        { "ATOM", "ATOM      1  S   LIG A   1       abc     6.500   7.900  1.00 12.00           S",
          ":2: expected a number as x, found 'abc'" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123  1l.104   7.900  1.00 12.00           S",
          ":2: expected a number as y, found '1l.104'" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123   6.500          1.00 12.00           S",
          ":2: expected a number as z, found ''" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123   6.5 0   7.900  1.00 12.00           S",
          ":2: expected a number as y, found '6.5 0'" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123",
          ":2: expected a number as y, found ''" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123   6.500   7.900  1,00 12.00           S",
          ":2: expected a number as occupancy, found '1,00'" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123   6.500   7.900       12.00           S",
          ":2: expected a number as occupancy, found ''" },
        { "ATOM", "HETATM    1  S   LIG A   1       5.123   6.500   7.900  1.00 1O.00",
          ":2: expected a number as B factor, found '1O.00'" },
        { "ATOM",
          "HETATM    1  S   LIG A   1       5.123   6.500   7.900  1.00 12.00           S\n"
          "ANISOU    1  S   LIG A   1     2000   35O0   1500    500   -300    200       S",
          ":3: expected a whole number as U22, found '35O0'" },
        { "ATOM",
          "HETATM    1  S   LIG A   1       5.123   6.500   7.900  1.00 12.00           S\n"
          "ANISOU    1  S   LIG A   1      0.2    3500   1500    500   -300    200       S",
          ":3: expected a whole number as U11, found '0.2'" },
        { "CRYST1", "CRYST1   28.500   33.OOO   24.250  90.00  90.00  90.00 P 21 21 21",
          ":1: expected a number as b, found '33.OOO'" },
        { "CRYST1", "CRYST1   28.500   33.000   24.250  90.00  90.00        P 21 21 21",
          ":1: expected a number as gamma, found ''" },
        { "ATOM", "SCALE2      0.000000  0.O30303  0.000000        0.00000",
          ":2: expected a number as S2, found '0.O30303'" },
        { "ATOM", "MTRIX3   1  0.000000  0.000000  1.000000",
          ":2: expected a number as V, found ''" },
    };
    const db_structure_factor_options options = { .dmin = 3 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_failure(test_context(), DB_ERROR_INPUT,
                       calculate(changed(bad[i].line, bad[i].with), &options), "changed.pdb",
                       bad[i].message);
}

/* Occupancy and B factor are optional: those of gemmi are 1 and 20 A^2. A number is a number wherever it stands in its
 * columns. */
static void a_line_may_end_before_the_occupancy(void **state) {
    (void)state;
    static const char *const same[] = {
        "ATOM      1  S   LIG A   1       5.123   6.500   7.900  0.50 20.00           S",
        "ATOM      1  S   LIG A   1    5.123   6.500   7.900   0.5   20.0  ",
        "ATOM      1  S   LIG A   1    5.123   6.500   7.900   .5    20.00\r",
        "ATOM      1  S   LIG A   1    5.123   6.500   7.900   .5    20",
        "ATOM      1  S   LIG A   1    5.123   6.500   7.900   .5",
    };
    const db_structure_factor_options options = { .dmin = 3 };
    double first = 0, whole;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        expect_ok(test_context(), calculate(changed("ATOM", same[i]), &options));
        if (i == 0) first = amplitude(1, 2, 3);
        assert_true(first > 1 && amplitude(1, 2, 3) == first);
        forget(&factors);
    }
    expect_ok(test_context(),
              calculate(changed("ATOM", "ATOM      1  S   LIG A   1    5.123   6.500   7.900"),
                        &options));
    whole = amplitude(1, 2, 3);
    assert_true(fabs(whole - 2 * first) < 1e-5 * whole);
    forget(&factors);
}

/* The model of cif_file with `with` in place of the first `text`. */
static const char *changed_cif(const char *text, const char *with) {
    static char changed_text[7000];
    size_t size;
    char *const bytes = load_file(cif_file(), &size);
    const char *const at = strstr(bytes, text);
    assert_non_null(at);
    snprintf(changed_text, sizeof changed_text, "%.*s%s%s", (int)(at - bytes), bytes, with,
             at + strlen(text));
    free(bytes);
    return folder_text("changed.cif", changed_text);
}

static void what_is_no_number_in_a_cif_model_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *with, *message;
    } bad[] = {
        { "length_b 33", "length_b 3e", "_cell.length_b, row 1: expected a number, found '3e'" },
        { "angle_gamma 90", "angle_gamma 90;", "_cell.angle_gamma, row 1: expected a number" },
        { " 7.7 ", " 7,7 ", "_atom_site.Cartn_y, row 2: expected a number, found '7,7'" },
        { " 0.6 ", " O.6 ", "_atom_site.occupancy, row 3: expected a number, found 'O.6'" },
        { " 25.5 ", " 25.5(x ", "_atom_site.B_iso_or_equiv, row 3: expected a number" },
        { " 25.5 ", " nan ", "_atom_site.B_iso_or_equiv, row 3: expected a number, found 'nan'" },
        { " 0.35 ", " 1e999 ", "_atom_site_anisotrop.U[2][2], row 1: expected a number" },
    };
    const db_structure_factor_options options = { .dmin = 3 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_failure(test_context(), DB_ERROR_INPUT,
                       calculate(changed_cif(bad[i].text, bad[i].with), &options), "changed.cif",
                       bad[i].message);
    expect_ok(test_context(), calculate(changed_cif(" 25.5 ", " 25.5(3) "), &options));
    forget(&factors);
    expect_ok(test_context(), calculate(changed_cif(" 25.5 ", " ? "), &options));
    const double without = amplitude(1, 2, 3);
    forget(&factors);
    expect_ok(test_context(), calculate(changed_cif(" 25.5 ", " 50 "), &options));
    assert_true(amplitude(1, 2, 3) == without);
    forget(&factors);
    db_site_choice choice = { .sites = "LIG:N'" };
    const db_structure_factor_options kinds = { .dmin = 3, .choice = &choice, .choice_count = 1 };
    expect_failure(test_context(), DB_ERROR_INPUT, calculate(changed_cif(" 25.5 ", " ? "), &kinds),
                   "changed.cif", "sites: atom N' of A", "expected a B factor, found none");
}

static void what_atoms_of_a_cif_model_lack_is_named(void **state) {
    (void)state;
    static const char *const needed[] = { "Cartn_z",     "occupancy",     "B_iso_or_equiv",
                                          "type_symbol", "label_asym_id", "auth_seq_id" };
    const db_structure_factor_options options = { .dmin = 3 };
    char item[40];
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        snprintf(item, sizeof item, "_atom_site.%s", needed[i]);
        expect_failure(test_context(), DB_ERROR_INPUT,
                       calculate(changed_cif(item, "_atom_site.other"), &options), "changed.cif",
                       item, "found no such item");
    }
    const char *const small =
        folder_text("small_molecule.cif", "data_x\n_cell_length_a 10\nloop_\n_atom_site_label\n"
                                          "_atom_site_fract_x\nC1 0.1\nC2 0.2\n");
    expect_failure(test_context(), DB_ERROR_INPUT, calculate(small, &options), "small_molecule.cif",
                   "expected atoms with _atom_site.Cartn_x");
    expect_ok(test_context(), calculate(cif_file(), &options));
    const double with = amplitude(1, 2, 3);
    forget(&factors);
    expect_ok(test_context(),
              calculate(changed_cif("_atom_site.label_alt_id", "_atom_site.other"), &options));
    assert_true(amplitude(1, 2, 3) == with);
    forget(&factors);
}

static void damaged_models_are_refused_or_read(void **state) {
    (void)state;
    const db_structure_factor_options options = { .dmin = 6, .k_sol = 0.35, .b_sol = 46 };
    for (int cif = 0; cif < 2; cif++) {
        size_t size;
        char *const bytes = load_file(cif ? cif_file() : pdb_file(), &size);
        for (size_t cut = 0; cut < size; cut += 11) {
            const db_status status = calculate(folder_file("cut", bytes, cut), &options);
            if (status != DB_OK) assert_non_null(strstr(db_context_message(test_context()), "cut"));
            forget(&factors);
        }
        for (size_t i = 0; i < size; i += 3) {
            bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
            (void)calculate(folder_file("flip", bytes, size), &options);
            forget(&factors);
            bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
        }
        free(bytes);
    }
}

/* Correlation of two tables over what both have. Shells > 0: in so many shells of equal steps of
 * log(d) each scaled by itself, with that of several `tables` that fits best there. */
enum { MOST_SHELLS = 16 };
typedef struct sums {
    double n, x, y, xx, xy, yy;
} sums;

static void add(sums *s, double x, double y) {
    s->n++;
    s->x += x;
    s->y += y;
    s->xx += x * x;
    s->xy += x * y;
    s->yy += y * y;
}

static double correlation(const sums *s) {
    return (s->xy - s->x * s->y / s->n) /
           sqrt((s->xx - s->x * s->x / s->n) * (s->yy - s->y * s->y / s->n));
}

/* number of the shell of a reflection of a tetragonal or hexagonal cell */
static int shell_of(const double cell[2], int hexagonal, const int hkl[3], int shells,
                    double dmin) {
    const double h = hkl[0], k = hkl[1], l = hkl[2];
    const double square =
        (hexagonal ? 4.0 / 3 * (h * h + h * k + k * k) : h * h + k * k) / (cell[0] * cell[0]) +
        l * l / (cell[1] * cell[1]);
    const double widest = 60, at = log(widest * sqrt(square)) / log(widest / dmin);
    return at < 0 ? 0 : at >= 1 ? shells - 1 : (int)(shells * at);
}

/* factors: measured; the result is the correlation with `count` tables, shell by shell the best. */
static double compare(const db_structure_factors *tables, int count, const double cell[2],
                      int hexagonal, int shells, double dmin) {
    static sums sum[8][MOST_SHELLS];
    sums all = { 0 };
    memset(sum, 0, sizeof sum);
    const int *const n = factors.extent;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
            const int hkl[3] = { factors.min[0] + i / (n[1] * n[2]),
                                 factors.min[1] + i / n[2] % n[1], factors.min[2] + i % n[2] };
            const double measured = factors.amplitude[i];
            if (measured < 0 || entry(&tables[0], hkl) < 0) continue;
            const int shell = shell_of(cell, hexagonal, hkl, shells, dmin);
            int best = 0;
            for (int t = 0; t < count; t++) {
                const sums *const s = &sum[t][shell], *const b = &sum[best][shell];
                if (pass == 0)
                    add(&sum[t][shell], entry(&tables[t], hkl), measured);
                else if (s->xy * s->xy / s->xx > b->xy * b->xy / b->xx)
                    best = t;
            }
            const sums *const b = &sum[best][shell];
            if (pass == 1) add(&all, b->xy / b->xx * entry(&tables[best], hkl), measured);
        }
    print_message("%.0f reflections in %d shells: correlation %.4f\n", all.n, shells,
                  correlation(&all));
    return correlation(&all);
}

static void a_model_of_thermolysin_agrees(void **state) {
    (void)state;
    const char *const path = shared_path("realdata/thermolysin/2tli.pdb");
    const db_structure_factor_options options = { .dmin = 2, .k_sol = 0.35, .b_sol = 46 };
    const double cell[2] = { 93.99, 130.87 };
    expect_ok(test_context(), calculate(path, &options));
    db_structure_factors model = factors;
    memset(&factors, 0, sizeof factors);
    expect_ok(test_context(),
              calculate(shared_path("realdata/thermolysin/2tli_P1_2.0A.mtz"), NULL));
    assert_true(compare(&model, 1, cell, 1, 1, 2) > 0.998);
    forget(&model);
    forget(&factors);
}

/* phenix scales model and solvent shell by shell. */
static void a_model_of_lysozyme_agrees_slow(void **state) {
    (void)state;
    enum { LEVELS = 5 };
    db_structure_factors model[LEVELS], one;
    const double cell[2] = { 79.344, 37.81 }, dmin = 2;
    char pdb[300];
    snprintf(pdb, sizeof pdb, "%s", shared_path("realdata/hewl/RTSAD_HEWL_refine_25.pdb"));
    for (int level = 0; level <= LEVELS; level++) {
        const int global = level == LEVELS;
        const db_structure_factor_options options = { .dmin = dmin,
                                                      .k_sol = global ? 0.45 : 0.1 * level,
                                                      .b_sol = global ? 46 : 0 };
        expect_ok(test_context(), calculate(pdb, &options));
        *(global ? &one : &model[level]) = factors;
        memset(&factors, 0, sizeof factors);
    }
    const db_structure_factor_options columns = { .columns = "F-model(+),F-model(-)" };
    expect_ok(test_context(),
              calculate(shared_path("realdata/hewl/RTSAD_HEWL_refine_25.mtz"), &columns));
    assert_true(compare(&one, 1, cell, 0, 1, dmin) > 0.97);
    assert_true(compare(model, LEVELS, cell, 0, 12, dmin) > 0.99);
    for (int level = 0; level < LEVELS; level++) forget(&model[level]);
    forget(&one);
    forget(&factors);
}

/* The integral of Kramers and Kronig over straight lines, by midpoints at the same distances on both sides of the
 * pole. */
static double integral_of_lines(const double *energy, const double *second, size_t count,
                                double at) {
    const double step = 5e-3;
    double sum = 0;
    for (double away = 0.5 * step; at - away > energy[0] || at + away < energy[count - 1];
         away += step)
        for (int side = -1; side <= 1; side += 2) {
            const double x = at + side * away;
            size_t i = 0;
            if (x < energy[0] || x > energy[count - 1]) continue;
            while (energy[i + 1] < x) i++;
            const double part = (x - energy[i]) / (energy[i + 1] - energy[i]);
            sum += x * ((1 - part) * second[i] + part * second[i + 1]) / (at * at - x * x);
        }
    return 2 / pi * step * sum;
}

static void f_second_tells_f_prime(void **state) {
    (void)state;
    const double energy[] = { 70, 76, 77, 85, 90, 101 }, second[] = { 0, 0.5, 4, 3, 3.5, 0 };
    const double at[] = { 60, 70, 76, 76.4, 85, 88, 101, 130 };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        assert_true(fabs(db_kramers_kronig(energy, second, 6, at[i]) -
                         integral_of_lines(energy, second, 6, at[i])) < 1e-3);
    assert_true(db_kramers_kronig(energy, second, 6, 75) < -1); /* a dip before the edge */
}

static void a_curve_on_few_points_keeps_f_prime_with_f_second(void **state) {
    (void)state;
    const double points[3] = { 7080, 7160, 17 };
    db_site_kind fine = { .name = "FES:FE1" }, few = { .name = "FES:FE1" };
    assert_int_equal(db_make_site_curve(test_context(), "Fe", 8, 7000, 7240, 0.5, &fine), DB_OK);
    assert_int_equal(db_make_site_curve(test_context(), "Fe", 8, 7000, 7240, 0.5, &few), DB_OK);
    assert_int_equal(db_site_curve_onto(test_context(), points, &few), DB_OK);
    assert_int_equal(few.count, 17);
    for (size_t i = 0; i < few.count; i++) {
        const size_t same = 160 + 10 * i;
        assert_true(fabs(few.energy[i] - fine.energy[same]) < 1e-9);
        assert_true(fabs(few.f_second[i] - fine.f_second[same]) < 1e-12);
        const double other =
            integral_of_lines(few.energy, few.f_second, few.count, few.energy[i]) -
            integral_of_lines(fine.energy + 160, fine.f_second + 160, 161, few.energy[i]);
        assert_true(fabs(few.f_prime[i] - fine.f_prime[same] - other) < 2e-3);
    }
    const double beyond[3] = { 7000, 7240, 13 }, kilo[3] = { 7.08, 7.16, 13 };
    assert_int_equal(db_site_curve_onto(test_context(), beyond, &few), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(test_context()), "from 7080 to 7160 eV"));
    assert_int_equal(few.count, 0);
    assert_int_equal(db_site_curve_onto(test_context(), kilo, &fine), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(test_context()), "look like keV"));
    static const char *const texts[2][2] = {
        { "7.0 -5 1\n7.24 -4 4\n", "the curve looks like keV" },
        { "1.73 -5 1\n1.76 -4 4\n", "the curve looks like wavelengths in A" },
    };
    for (int i = 0; i < 2; i++) {
        db_site_kind other = { .name = "FES:FE1" };
        expect_ok(test_context(),
                  db_read_site_curve(test_context(), folder_text("c.tsv", texts[i][0]), &other));
        assert_int_equal(db_site_curve_onto(test_context(), points, &other), DB_ERROR_INPUT);
        assert_non_null(strstr(db_context_message(test_context()), texts[i][1]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_scatters_as_the_sum_over_its_atoms),
        cmocka_unit_test(sites_are_kept_apart),
        cmocka_unit_test(f_second_tells_f_prime),
        cmocka_unit_test(a_curve_on_few_points_keeps_f_prime_with_f_second),
        cmocka_unit_test(solvent_fills_what_atoms_leave),
        cmocka_unit_test(what_a_model_lacks_is_named),
        cmocka_unit_test(what_is_no_number_in_a_model_is_named),
        cmocka_unit_test(a_line_may_end_before_the_occupancy),
        cmocka_unit_test(what_is_no_number_in_a_cif_model_is_named),
        cmocka_unit_test(what_atoms_of_a_cif_model_lack_is_named),
        cmocka_unit_test(damaged_models_are_refused_or_read),
        cmocka_unit_test(a_model_of_thermolysin_agrees),
        cmocka_unit_test(a_model_of_lysozyme_agrees_slow),
    };
    if (!strstr(db_features(), "gemmi")) return 77;
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
