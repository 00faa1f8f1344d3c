/* Bravais lattices by their two-fold axes, which are edges of the usual cells: three at right angles for
 * orthorhombic, tetragonal and cubic lattices, two for hexagonal axes, one for monoclinic lattices. The number of
 * lattice points in the cell gives its centring. */
#include "fit/search/bravais.h"

#include "base/cell_constants.h"
#include "base/context_internal.h"
#include "base/degree.h"
#include "fit/search/lattice_fit.h"

#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_oblique = 3; /* degree */
static const double most_strain = 0.04;

typedef struct lattice {
    double real[9]; /* rows of the reduced cell */
    int basis[9];   /* the reduced cell in the given rows */
    db_two_fold axis[DB_MOST_TWO_FOLDS];
    int axes;
    db_bravais *list;
    int count;
} lattice;

static void cross(const int a[3], const int b[3], int product[3]) {
    for (int i = 0; i < 3; i++)
        product[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static int dot(const int a[3], const int b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Number of lattice points in a cell, negative for a left-handed one. */
static int points_in(const int edges[9]) {
    int across[3];
    cross(edges + 3, edges + 6, across);
    return dot(edges, across);
}

/* Is a fraction of a sum of edges a translation? */
static int is_translation(const int edges[9], int a, int b, int c, int part) {
    for (int i = 0; i < 3; i++)
        if ((a * edges[i] + b * edges[3 + i] + c * edges[6 + i]) % part) return 0;
    return 1;
}

static char centring_of(const int edges[9]) {
    const int points = abs(points_in(edges));
    if (points == 1) return 'P';
    if (points == 4) return 'F';
    if (points != 2) return '?';
    return is_translation(edges, 1, 1, 1, 2)   ? 'I'
           : is_translation(edges, 1, 1, 0, 2) ? 'C'
           : is_translation(edges, 1, 0, 1, 2) ? 'B'
                                               : 'A';
}

static void vector_of(const lattice *l, const int index[3], double v[3]) {
    for (int i = 0; i < 3; i++)
        v[i] = index[0] * l->real[i] + index[1] * l->real[3 + i] + index[2] * l->real[6 + i];
}

/* Keeps the least strained cell of each lattice. edges: in rows of the reduced cell. */
static void offer(lattice *l, char family, char centring, int order, const int edges[9]) {
    db_bravais b = { .symbol = { family, centring, '\0' }, .order = order };
    double rows[9], angle, edge;
    int turned[9];
    for (int i = 0; i < 9; i++) turned[i] = points_in(edges) < 0 ? -edges[i] : edges[i];
    for (int i = 0; i < 3; i++) vector_of(l, turned + 3 * i, rows + 3 * i);
    for (int i = 0; i < 9; i++)
        b.edges[i] = turned[i - i % 3] * l->basis[i % 3] +
                     turned[i - i % 3 + 1] * l->basis[3 + i % 3] +
                     turned[i - i % 3 + 2] * l->basis[6 + i % 3];
    db_cell_of_edges(rows, b.cell);
    b.ties = db_cell_ties_of(family == 'm' ? "P 1 2 1" : b.symbol, b.cell);
    if (!b.ties) return;
    db_cell_regularize(b.ties, b.cell, &edge, &angle);
    b.strain = fmax(edge, angle * DB_DEGREE);
    int at = 0;
    while (at < l->count && strcmp(l->list[at].symbol, b.symbol) != 0) at++;
    if (b.strain > most_strain || (at < l->count && l->list[at].strain <= b.strain)) return;
    l->list[at] = b;
    if (at == l->count) l->count++;
}

/* Offers a cell with edges reordered so that the centring is on the face of a and b. */
static void offer_on_c(lattice *l, const int edges[9], char centring) {
    const int first = centring == 'A' ? 1 : centring == 'B' ? 2 : 0;
    int moved[9];
    for (int i = 0; i < 3; i++)
        memcpy(moved + 3 * i, edges + 3 * ((first + i) % 3), 3 * sizeof *edges);
    offer(l, 'o', centring == 'A' || centring == 'B' ? 'C' : centring, 4, moved);
}

/* Offers three edges that are two-fold axes at right angles; each may be the tetragonal axis. */
static void offer_right_angled(lattice *l, const int edges[9]) {
    const char centring = centring_of(edges);
    if (centring == '?') return;
    offer_on_c(l, edges, centring);
    if (centring == 'P' || centring == 'I')
        for (int c = 0; c < 3; c++) {
            int moved[9];
            for (int i = 0; i < 3; i++)
                memcpy(moved + 3 * i, edges + 3 * ((c + 1 + i) % 3), 3 * sizeof *edges);
            offer(l, 't', centring, 8, moved);
        }
    if (centring == 'P' || centring == 'I' || centring == 'F') offer(l, 'c', centring, 24, edges);
}

static double angle_between(const lattice *l, const int a[3], const int b[3]) {
    double u[3], v[3];
    vector_of(l, a, u);
    vector_of(l, b, v);
    return db_angle(u, v);
}

/* The shortest translation at right angles to two edges; 0: none. */
static int find_across(const lattice *l, const int a[3], const int b[3], int c[3]) {
    double shortest = INFINITY;
    for (int k = 0; k < 7 * 7 * 7; k++) {
        const int to[3] = { k % 7 - 3, k / 7 % 7 - 3, k / 49 - 3 };
        double v[3];
        if (!to[0] && !to[1] && !to[2]) continue;
        vector_of(l, to, v);
        if (db_length(v) >= shortest || fabs(angle_between(l, a, to) - 90) > most_oblique ||
            fabs(angle_between(l, b, to) - 90) > most_oblique)
            continue;
        shortest = db_length(v);
        memcpy(c, to, sizeof to);
    }
    return isfinite(shortest);
}

/* Offers hexagonal axes: two two-fold axes at 120 degree, and the axis across them. */
static void offer_hexagonal(lattice *l, const int a[3], const int b[3]) {
    int edges[9];
    memcpy(edges, a, 3 * sizeof *a);
    memcpy(edges + 3, b, 3 * sizeof *b);
    if (angle_between(l, a, b) < 90)
        for (int i = 3; i < 6; i++) edges[i] = -edges[i];
    if (fabs(angle_between(l, edges, edges + 3) - 120) > most_oblique ||
        !find_across(l, a, b, edges + 6))
        return;
    const int points = abs(points_in(edges));
    if (points == 1) offer(l, 'h', 'P', 12, edges);
    if (points != 3) return;
    if (points_in(edges) < 0)
        for (int i = 6; i < 9; i++) edges[i] = -edges[i];
    if (!is_translation(edges, 2, 1, 1, 3)) /* obverse */
        for (int i = 0; i < 6; i++) edges[i] = -edges[i];
    if (is_translation(edges, 2, 1, 1, 3)) offer(l, 'h', 'R', 6, edges);
}

/* Offers one two-fold axis b, and the two shortest translations in the planes across it, with an obtuse angle. */
static void offer_monoclinic(lattice *l, const db_two_fold *axis) {
    int edges[9] = { 0 };
    double length[2] = { INFINITY, INFINITY };
    memcpy(edges + 3, axis->axis, sizeof axis->axis);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 125; k++) {
            const int to[3] = { k % 5 - 2, k / 5 % 5 - 2, k / 25 - 2 };
            int across[3];
            double v[3];
            cross(edges, to, across);
            vector_of(l, to, v);
            const int is_other =
                pass ? across[0] || across[1] || across[2] : to[0] || to[1] || to[2];
            if (!is_other || dot(axis->plane, to) != 0 || db_length(v) >= length[pass]) continue;
            length[pass] = db_length(v);
            memcpy(edges + 6 * pass, to, sizeof to);
        }
    const char centring = centring_of(edges);
    if (angle_between(l, edges, edges + 6) < 90)
        for (int i = 6; i < 9; i++) edges[i] = -edges[i];
    if (!isfinite(length[1]) || centring == 'B' || centring == 'F' || centring == '?') return;
    for (int i = 0; i < 3; i++) {
        const int a = edges[i], c = edges[6 + i];
        if (centring == 'A' || centring == 'I') edges[i] = c, edges[6 + i] = a;
        if (centring == 'I') edges[i] += a; /* the shorter one stays c */
    }
    if (angle_between(l, edges, edges + 6) < 90)
        for (int i = 6; i < 9; i++) edges[i] = -edges[i];
    offer(l, 'm', centring == 'P' ? 'P' : 'C', 2, edges);
}

/* Sorts edges by length, for P, I and F, which name no axis. */
static void sort_edges(const lattice *l, int edges[9]) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 6; i += 3) {
            double a[3], b[3];
            int was[3];
            vector_of(l, edges + i, a);
            vector_of(l, edges + i + 3, b);
            if (db_length(a) <= db_length(b)) continue;
            memcpy(was, edges + i, sizeof was);
            memcpy(edges + i, edges + i + 3, sizeof was);
            memcpy(edges + i + 3, was, sizeof was);
        }
}

static void combine_axes(lattice *l) {
    for (int i = 0; i < l->axes; i++) {
        offer_monoclinic(l, &l->axis[i]);
        for (int j = i + 1; j < l->axes; j++) {
            const int *const a = l->axis[i].axis, *const b = l->axis[j].axis;
            offer_hexagonal(l, a, b);
            for (int k = j + 1; k < l->axes; k++) {
                const int *const c = l->axis[k].axis;
                int edges[9];
                if (fabs(angle_between(l, a, b) - 90) > most_oblique ||
                    fabs(angle_between(l, a, c) - 90) > most_oblique ||
                    fabs(angle_between(l, b, c) - 90) > most_oblique)
                    continue;
                memcpy(edges, a, 3 * sizeof *a);
                memcpy(edges + 3, b, 3 * sizeof *b);
                memcpy(edges + 6, c, 3 * sizeof *c);
                sort_edges(l, edges);
                offer_right_angled(l, edges);
            }
        }
    }
}

static int higher_first(const void *a, const void *b) {
    const db_bravais *const x = a, *const y = b;
    if (x->order != y->order) return y->order - x->order;
    return (x->strain > y->strain) - (x->strain < y->strain);
}

db_status db_bravais_find(db_context *context, const double real[9],
                          db_bravais list[DB_MOST_BRAVAIS], int *count) {
    static const int own[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    lattice l = { .list = list };
    double cell[6];
    *count = 0;
    db_cell_of_edges(real, cell);
    const db_status status =
        db_lattice_two_folds(context, cell, most_oblique, l.basis, l.axis, &l.axes);
    if (status != DB_OK && status != DB_ERROR_UNSUPPORTED) return status;
    for (int i = 0; i < 9; i++)
        l.real[i] = l.basis[i - i % 3] * real[i % 3] + l.basis[i - i % 3 + 1] * real[3 + i % 3] +
                    l.basis[i - i % 3 + 2] * real[6 + i % 3];
    combine_axes(&l);
    offer(&l, 'a', 'P', 1, own);
    qsort(list, (size_t)l.count, sizeof *list, higher_first);
    *count = l.count;
    return status;
}

/* Axes of other settings, in edges of the usual cell and in the order a, b, c, of which cyclic permutations are further
 * settings. */
static const struct {
    const char *symbol; /* of the lattice; "": of all, its usual axes */
    int part;           /* numbers of the axes are fractions of this */
    int axes[9];
} settings[] = {
    { "", 1, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
    { "mC", 1, { 0, 0, 1, 0, -1, 0, 1, 0, 0 } },   /* A */
    { "mC", 1, { 0, 0, 1, 0, 1, 0, -1, 0, -1 } },  /* I, with the shortest edges */
    { "hR", 3, { 2, 1, 1, -1, 1, 1, -1, -2, 1 } }, /* rhombohedral axes */
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* A lattice with the axes of setting n. turn: number of the axis that becomes a. */
static db_bravais with_axes(const db_bravais *usual, int n, int turn) {
    static const char *const unique_axis[] = { "P 1 2 1", "P 2 1 1", "P 1 1 2" };
    db_bravais b = *usual;
    double standard[9], rows[9] = { 0 }, edge, angle;
    db_lattice_rows(usual->cell, standard);
    for (int i = 0; i < 9; i++) {
        const int *const axis = settings[n].axes + 3 * ((i / 3 + turn) % 3), k = i % 3;
        b.edges[i] = 0;
        for (int j = 0; j < 3; j++) {
            b.edges[i] += axis[j] * usual->edges[3 * j + k];
            rows[i] += axis[j] * standard[3 * j + k] / settings[n].part;
        }
        b.edges[i] /= settings[n].part;
    }
    if (*b.symbol == 'm') b.ties = db_cell_ties_of(unique_axis[turn], b.cell);
    if (settings[n].part == 3) b.ties = db_cell_ties_of("R 3 :R", b.cell);
    if (strchr("mo", *b.symbol)) b.symbol[1] = centring_of(b.edges);
    db_cell_of_edges(rows, b.cell);
    db_cell_regularize(b.ties, b.cell, &edge, &angle);
    return b;
}

static int take_setting(db_bravais *b, const char *symmetry, int centring) {
    static const int turns[] = { 0, 2, 1 }; /* of unique axes b, c, a */
    const int count = strchr("mo", *b->symbol) ? 3 : 1;
    for (int t = 0; t < count; t++)
        for (int n = 0; n < SETTINGS; n++) {
            if (*settings[n].symbol && strcmp(settings[n].symbol, b->symbol) != 0) continue;
            const db_bravais moved = with_axes(b, n, turns[t]);
            if (moved.ties != db_cell_ties_of(symmetry, moved.cell) ||
                (centring && moved.symbol[1] != centring))
                continue;
            *b = moved;
            return 1;
        }
    return 0;
}

int db_bravais_take_named(db_bravais *list, int count, const char *symmetry, int centring) {
    for (int i = 0; i < count; i++)
        if (take_setting(&list[i], symmetry, centring)) return i;
    return -1;
}
