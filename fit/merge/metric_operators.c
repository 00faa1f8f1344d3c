/* Rotations of a lattice that the crystal does not have. */
#include "fit/merge/metric_operators.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"
#include "fit/config/crystal_system.h"
#include "fit/config/orientation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = DB_INDEXING_PARTS, MOST_VECTORS = 200 };

/* Lattice vectors with the length of an edge. */
typedef struct vectors {
    int count;
    int v[MOST_VECTORS][3]; /* in fractions of the edges */
} vectors;

static void metric_of(const double cell[6], double metric[9]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            metric[3 * i + k] =
                cell[i] * cell[k] * (i == k ? 1 : cos(cell[3 + (3 - i - k)] * DB_DEGREE));
}

static double product(const double metric[9], const int a[3], const int b[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) sum += metric[3 * i + k] * a[i] * b[k];
    return sum / (PARTS * PARTS);
}

static double length(const double metric[9], const int a[3]) { return sqrt(product(metric, a, a)); }

static vectors vectors_like(const double metric[9], const db_space_group *group, double edge,
                            double tolerance) {
    const int most = 3;
    vectors list = { 0, { { 0 } } };
    for (int h = -most; h <= most; h++)
        for (int k = -most; k <= most; k++)
            for (int l = -most; l <= most; l++)
                for (int c = 0; c < group->centring_count; c++) {
                    const int *const shift = group->centring[c];
                    const int v[3] = { PARTS * h + shift[0], PARTS * k + shift[1],
                                       PARTS * l + shift[2] };
                    if (fabs(length(metric, v) / edge - 1) > tolerance) continue;
                    if (list.count < MOST_VECTORS) memcpy(list.v[list.count++], v, sizeof v);
                }
    return list;
}

static double angle_between(const double metric[9], const int a[3], const int b[3]) {
    const double cosine = product(metric, a, b) / (length(metric, a) * length(metric, b));
    return acos(fmax(-1, fmin(1, cosine)));
}

/* Largest change of edges and angles. */
static double strain_of(const double metric[9], const int matrix[9]) {
    static const int edge[3][3] = { { PARTS, 0, 0 }, { 0, PARTS, 0 }, { 0, 0, PARTS } };
    double largest = 0;
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3;
        largest = fmax(largest, fabs(length(metric, matrix + 3 * i) / length(metric, edge[i]) - 1));
        largest = fmax(largest, fabs(angle_between(metric, matrix + 3 * i, matrix + 3 * k) -
                                     angle_between(metric, edge[i], edge[k])));
    }
    return largest;
}

static int determinant_is_one(const int m[9]) {
    const long long d = (long long)m[0] * (m[4] * m[8] - m[5] * m[7]) -
                        (long long)m[1] * (m[3] * m[8] - m[5] * m[6]) +
                        (long long)m[2] * (m[3] * m[7] - m[4] * m[6]);
    return d == (long long)PARTS * PARTS * PARTS;
}

/* Is it a vector of the lattice? In squared fractions of the edges. */
static int is_of_lattice(const db_space_group *group, const int v[3]) {
    for (int c = 0; c < group->centring_count; c++) {
        int fits = 1;
        for (int i = 0; i < 3; i++)
            fits &= (v[i] - PARTS * group->centring[c][i]) % (PARTS * PARTS) == 0;
        if (fits) return 1;
    }
    return 0;
}

/* Do lattice points inside the cell stay lattice points? */
static int keeps_centring(const db_space_group *group, const int m[9]) {
    for (int c = 0; c < group->centring_count; c++) {
        int v[3] = { 0 };
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) v[k] += group->centring[c][i] * m[3 * i + k];
        if (!is_of_lattice(group, v)) return 0;
    }
    return 1;
}

/* to = a then b, of indices: b a. */
static void multiply_operators(const int a[9], const int b[9], int to[9]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            int sum = 0;
            for (int j = 0; j < 3; j++) sum += b[3 * i + j] * a[3 * j + k];
            to[3 * i + k] = sum / PARTS;
        }
}

/* Rotation of the crystal, without inversion, for indices. */
static void rotation_of(const db_symmetry *symmetry, int o, int matrix[9]) {
    const int *const r = symmetry->rotation[o];
    const int determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) -
                            r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) matrix[3 * i + k] = determinant * PARTS * r[3 * k + i];
}

static int are_equivalent(const db_space_group *group, const int a[9], const int b[9]) {
    for (int o = 0; o < group->symmetry.count; o++) {
        int rotation[9], turned[9];
        rotation_of(&group->symmetry, o, rotation);
        multiply_operators(a, rotation, turned);
        if (memcmp(turned, b, sizeof turned) == 0) return 1;
    }
    return 0;
}

/* Measure of readability, low for simple operators: large and negative entries count, then the later of two in
 * order. */
static int clumsiness(const int m[9]) {
    int sum = 0;
    for (int i = 0; i < 9; i++) sum += 10 * abs(m[i]) + (m[i] < 0 ? abs(m[i]) : 0);
    return sum;
}

static void add_way(const db_space_group *group, const int matrix[9], double strain,
                    db_indexings *list) {
    for (int w = 0; w < list->count; w++) {
        if (!are_equivalent(group, list->way[w].matrix, matrix)) continue;
        if (w > 0 && clumsiness(matrix) < clumsiness(list->way[w].matrix))
            memcpy(list->way[w].matrix, matrix, 9 * sizeof *matrix);
        list->way[w].strain = fmin(list->way[w].strain, strain);
        return;
    }
    if (list->count == DB_MOST_INDEXINGS) return;
    memcpy(list->way[list->count].matrix, matrix, 9 * sizeof *matrix);
    list->way[list->count++].strain = strain;
}

void db_indexings_find(const double cell[6], const db_space_group *group, double tolerance,
                       db_indexings *indexings) {
    static const int identity[9] = { PARTS, 0, 0, 0, PARTS, 0, 0, 0, PARTS };
    double metric[9];
    vectors list[3];
    memset(indexings, 0, sizeof *indexings);
    metric_of(cell, metric);
    add_way(group, identity, 0, indexings);
    for (int i = 0; i < 3; i++) list[i] = vectors_like(metric, group, cell[i], tolerance);
    for (int a = 0; a < list[0].count; a++)
        for (int b = 0; b < list[1].count; b++)
            for (int c = 0; c < list[2].count; c++) {
                int matrix[9];
                memcpy(matrix, list[0].v[a], 3 * sizeof *matrix);
                memcpy(matrix + 3, list[1].v[b], 3 * sizeof *matrix);
                memcpy(matrix + 6, list[2].v[c], 3 * sizeof *matrix);
                if (!determinant_is_one(matrix) || !keeps_centring(group, matrix)) continue;
                const double strain = strain_of(metric, matrix);
                if (strain <= tolerance) add_way(group, matrix, strain, indexings);
            }
}

/* Does a way leave forbidden reflections forbidden, and no others? */
static int keeps_forbidden(const db_indexing *way, int centring) {
    enum { SIDE = 5 };
    for (int n = 0; n < SIDE * SIDE * SIDE; n++) {
        const int hkl[3] = { n / SIDE / SIDE, n / SIDE % SIDE, n % SIDE };
        int turned[3];
        (void)db_indexing_apply(way, hkl, turned);
        if (db_centring_forbids(centring, hkl) != db_centring_forbids(centring, turned)) return 0;
    }
    return 1;
}

void db_indexings_of_centring(const double cell[6], int centring, double tolerance,
                              db_indexings *indexings) {
    static const db_space_group none = { .number = 1, .centring_count = 1 };
    db_space_group keep = none; /* has the rotations that keep the centring */
    db_indexings_find(cell, &none, tolerance, indexings);
    for (int w = 0; w < indexings->count; w++) {
        if (!keeps_forbidden(&indexings->way[w], centring)) continue;
        int *const rotation = keep.symmetry.rotation[keep.symmetry.count++];
        for (int i = 0; i < 9; i++)
            rotation[i] = indexings->way[w].matrix[3 * (i % 3) + i / 3] / PARTS;
    }
    db_indexings_find(cell, &keep, tolerance, indexings);
}

/* Do all reflections that a centring allows have whole products with a vector, in fractions of the edges? */
static int is_translation(int centring, const int v[3]) {
    enum { SIDE = 5 };
    for (int n = 0; n < SIDE * SIDE * SIDE; n++) {
        const int hkl[3] = { n / SIDE / SIDE, n / SIDE % SIDE, n % SIDE };
        if (!db_centring_forbids(centring, hkl) &&
            (hkl[0] * v[0] + hkl[1] * v[1] + hkl[2] * v[2]) % PARTS != 0)
            return 0;
    }
    return 1;
}

void db_indexings_of_lattice(const double cell[6], int centring, double tolerance,
                             db_indexings *indexings) {
    static const int part[4] = { 0, PARTS / 3, PARTS / 2, 2 * PARTS / 3 };
    db_space_group lattice = {
        .number = 1, .symmetry = { .count = 1, .rotation = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } } }
    };
    int kept = 1;
    for (int n = 0; n < 64; n++) {
        const int v[3] = { part[n / 16], part[n / 4 % 4], part[n % 4] };
        if (is_translation(centring, v))
            memcpy(lattice.centring[lattice.centring_count++], v, sizeof v);
    }
    db_indexings_find(cell, &lattice, tolerance, indexings);
    for (int w = 1; w < indexings->count; w++)
        if (!db_indexing_is_exact(&indexings->way[w])) indexings->way[kept++] = indexings->way[w];
    indexings->count = kept;
}

int db_indexing_apply(const db_indexing *way, const int hkl[3], int turned[3]) {
    int whole = 1;
    for (int i = 0; i < 3; i++) {
        const int *const row = way->matrix + 3 * (size_t)i;
        const int sum = row[0] * hkl[0] + row[1] * hkl[1] + row[2] * hkl[2];
        whole &= sum % PARTS == 0;
        turned[i] = sum / PARTS;
    }
    return whole;
}

int db_indexing_is_exact(const db_indexing *way) { return way->strain < 1e-6; }

/* Edge that becomes edge `axis`; -1: a sum of several edges does. */
static int source_of(const db_indexing *way, int axis) {
    const int *const row = way->matrix + 3 * (size_t)axis;
    int from = -1, terms = 0;
    for (int k = 0; k < 3; k++) {
        if (row[k] == 0) continue;
        from = k;
        terms++;
    }
    return terms == 1 && abs(row[from]) == PARTS ? from : -1;
}

db_status db_indexing_turn(db_context *context, const db_indexing *way, db_crystal *crystal) {
    db_crystal turned = *crystal;
    double operator[9], inverse[9], from[9], to[9];
    db_orientation_set(crystal->orientation, &turned);
    for (int i = 0; i < 9; i++) operator[i] =(double) way->matrix[i] / PARTS;
    (void)db_invert(operator, inverse);
    db_crystal_matrix(&turned, from);
    db_multiply(from, inverse, to); /* A h is unchanged */
    DB_TRY(db_crystal_set_matrix(context, &turned, to));
    for (int i = 0; i < 3; i++) {
        const int source = source_of(way, i);
        if (source >= 0) turned.Ncells[i] = crystal->Ncells[source];
    }
    memcpy(crystal->cell, turned.cell, sizeof turned.cell);
    memcpy(crystal->orientation, turned.orientation, sizeof turned.orientation);
    memcpy(crystal->Ncells, turned.Ncells, sizeof turned.Ncells);
    return DB_OK;
}

int db_indexings_product(const db_indexings *indexings, const db_space_group *group, int first,
                         int second) {
    int both[9];
    multiply_operators(indexings->way[first].matrix, indexings->way[second].matrix, both);
    for (int w = 0; w < indexings->count; w++)
        if (are_equivalent(group, both, indexings->way[w].matrix)) return w;
    return -1;
}

const char *db_indexing_text(const db_indexing *way, char text[DB_INDEXING_TEXT]) {
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < 3; i++) {
        int terms = 0;
        for (int k = 0; k < 3; k++) {
            int top = way->matrix[3 * i + k], bottom = PARTS;
            if (top == 0) continue;
            for (int factor = 2; factor <= 3; factor++)
                while (bottom % factor == 0 && top % factor == 0) {
                    top /= factor;
                    bottom /= factor;
                }
            const char *const sign = top < 0 ? "-" : terms ? "+" : "";
            if (at < DB_INDEXING_TEXT)
                at += (size_t)snprintf(text + at, DB_INDEXING_TEXT - at, "%s", sign);
            if (abs(top) != 1 && at < DB_INDEXING_TEXT)
                at += (size_t)snprintf(text + at, DB_INDEXING_TEXT - at, "%d", abs(top));
            if (at < DB_INDEXING_TEXT)
                at += (size_t)snprintf(text + at, DB_INDEXING_TEXT - at, "%c", "hkl"[k]);
            if (bottom != 1 && at < DB_INDEXING_TEXT)
                at += (size_t)snprintf(text + at, DB_INDEXING_TEXT - at, "/%d", bottom);
            terms++;
        }
        if (i < 2 && at < DB_INDEXING_TEXT)
            at += (size_t)snprintf(text + at, DB_INDEXING_TEXT - at, ",");
    }
    return text;
}
