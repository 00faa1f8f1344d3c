/* The highest sums over spots at nodes are translations of the crystal, wherever nodes begin and the spots end. */
#include "support/context.h"
#include "fit/search/cell_search.h"
#include "base/vector.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 14 };                                             /* indices */
static const double real[9] = { 31, 0, 0, 0, 37, 0, 0, 0, 43 }; /* rows a, b, c (angstrom) */
static const double radius = 0.5;                               /* 1/angstrom, of the bowl */

/* Nodes of a window of indices near a bowl along c*, moved by a part of a node. */
static size_t fill_window(const int first[2], int side, const double moved[3],
                          db_search_spot *spots) {
    size_t count = 0;
    for (int h = first[0]; h < first[0] + side; h++)
        for (int k = first[1]; k < first[1] + side; k++) {
            const double a = h / real[0], b = k / real[4],
                         deep = radius - sqrt(radius * radius - a * a - b * b);
            db_search_spot *const s = &spots[count++];
            memset(s, 0, sizeof *s);
            s->q[0] = a + moved[0] / real[0];
            s->q[1] = b + moved[1] / real[4];
            s->q[2] = (rint(deep * real[8]) + moved[2]) / real[8];
            s->length = db_length(s->q);
        }
    return count;
}

/* The smallest determinant, beside 0, of three found translations in units of edges: 1 if they span the lattice. Each of
 * them has whole numbers of edges, and the phase of a lattice that was moved. */
static int least_determinant(const db_translation *list, size_t found, size_t spots,
                             const double moved[3]) {
    int index[DB_MOST_TRANSLATIONS][3], least = INT_MAX;
    size_t count = 0;
    for (size_t n = 0; n < found; n++) {
        double phase = list[n].phase, off = 0;
        if (list[n].sum < 0.999 * (double)spots) continue;
        for (int i = 0; i < 3; i++) {
            const double along = list[n].t[i] / real[4 * i];
            index[count][i] = (int)rint(along);
            off = fmax(off, fabs(along - rint(along)));
            phase -= moved[i] * rint(along);
        }
        assert_true(off < 1e-3);
        assert_true(fabs(phase - rint(phase)) < 1e-3);
        count++;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t k = 0; k < j; k++) {
                const int *const a = index[i], *const b = index[j], *const c = index[k];
                const int volume =
                    abs(a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                        a[2] * (b[0] * c[1] - b[1] * c[0]));
                if (volume > 0 && volume < least) least = volume;
            }
    return least;
}

static void the_lattice_is_spanned_wherever_the_spots_end(void **state) {
    (void)state;
    static db_search_spot spots[SIDE * SIDE];
    static const double moved[][3] = { { 0, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.2, 0.7, 0.4 } };
    for (int side = SIDE - 1; side <= SIDE; side++) /* their middle is at a node, or between */
        for (int at = 0; at < 4; at++)
            for (int m = 0; m < 3; m++) {
                const int first[2] = { -SIDE / 2 + at % 2, -SIDE / 2 + at / 2 };
                const size_t count = fill_window(first, side, moved[m], spots);
                db_translation list[DB_MOST_TRANSLATIONS];
                size_t found;
                double points;
                assert_int_equal(
                    db_translations_find(context, spots, count, 60, list, &found, &points), DB_OK);
                assert_int_equal(least_determinant(list, found, count, moved[m]), 1);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        the_lattice_is_spanned_wherever_the_spots_end) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
