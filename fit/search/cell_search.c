/* Search for a cell: three translations of the crystal (translations.c) make a lattice. The lattice that chance
 * explains least is refined by least squares in the linear variables, its reciprocal basis and the beam. The
 * search takes longer and longer translations until a lattice has most of the spots (docs/theory/refinement.md,
 * Unknown cells). */
#include "fit/search/cell_search.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "fit/config/certain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTHS = 7,
    PROBED = 150, /* spots at the lowest angles, which try lattices */
    CANDIDATES = 12
};
static const double first_length = 40, longer = 1.6; /* angstrom: of translations */
static const double first_angle = 0.8; /* degree: tolerance of lattices before refinement */
static const double enough =
    0.7; /* fraction of the spots near nodes: longer translations can hardly bring more */
static const double least_part = 0.1; /* least fraction of the spots, beyond chance */
/* ln of the probability that all spots on rows are near nodes as often as on a right row; a lattice below this is
 * no chance. */
static const double ROWS_SIGNIFICANT = -5;

typedef struct candidate {
    double score;
    db_lattice lattice;
} candidate;

/* Reduces three vectors to the shortest ones that span the lattice, right-handed. */
static void reduce_rows(double real[9]) {
    for (int pass = 0; pass < 20; pass++) {
        int changed = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 9; k++) {
                const int to[2] = { k / 3 - 1, k % 3 - 1 };
                double sum[3];
                for (int d = 0; d < 3; d++)
                    sum[d] = real[3 * i + d] + to[0] * real[3 * ((i + 1) % 3) + d] +
                             to[1] * real[3 * ((i + 2) % 3) + d];
                if (db_length(sum) >= db_length(real + 3 * i) * (1 - 1e-9)) continue;
                memcpy(real + 3 * i, sum, sizeof sum);
                changed = 1;
            }
        if (!changed) break;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            if (db_length(real + 3 * j) > db_length(real + 3 * j + 3))
                for (int d = 0; d < 3; d++) {
                    const double was = real[3 * j + d];
                    real[3 * j + d] = real[3 * j + 3 + d];
                    real[3 * j + 3 + d] = was;
                }
    if (db_lattice_volume(real) < 0)
        for (int d = 0; d < 9; d++) real[d] = -real[d];
}

/* The lattice of three translations, with the beam from their phases. 0: they are in a plane. */
static int combine_three(const db_translation *const t[3], const double by_beam[2][3],
                         db_lattice *c) {
    double *const real = c->real, *const beam = c->beam, rows[9], shift[3] = { 0 },
                  square[4] = { 0 }, right[2] = { 0 };
    for (int i = 0; i < 3; i++) memcpy(real + 3 * i, t[i]->t, sizeof t[i]->t);
    const double volume = db_lattice_volume(real),
                 box = db_length(real) * db_length(real + 3) * db_length(real + 6);
    if (fabs(volume) < 0.1 * box) return 0;
    (void)db_dual_basis(real, rows);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) shift[k] -= t[i]->phase * rows[3 * i + k];
    for (int d = 0; d < 2; d++) {
        right[d] = db_dot(by_beam[d], shift);
        for (int e = 0; e < 2; e++) square[2 * d + e] = db_dot(by_beam[d], by_beam[e]);
    }
    const double det = square[0] * square[3] - square[1] * square[2];
    if (!(det > 0)) return 0;
    beam[0] = (right[0] * square[3] - right[1] * square[1]) / det;
    beam[1] = (right[1] * square[0] - right[0] * square[2]) / det;
    return 1;
}

typedef struct search {
    db_context *context;
    const db_search_spot *spots; /* from low to high angles */
    size_t count;
    unsigned char *near; /* room for marks of the spots */
    db_cell_found *best;
} search;

/* Makes lattices of all triples of translations. */
static size_t combine_all(const search *s, const db_translation *t, size_t count, candidate *list) {
    const size_t probed = s->count < PROBED ? s->count : PROBED;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            for (size_t k = j + 1; k < count; k++) {
                const db_translation *const three[3] = { &t[i], &t[j], &t[k] };
                candidate c = { .score = 0 };
                if (!combine_three(three, s->spots[0].by_beam, &c.lattice)) continue;
                const db_agreement a =
                    db_lattice_agreement(&c.lattice, first_angle, s->spots, probed, NULL);
                c.score = -db_agreement_log_probability(&a);
                kept = db_search_keep(&c, sizeof c, list, kept, CANDIDATES);
            }
    return kept;
}

/* Refines a lattice, and takes it if it is less probable by chance than the best so far. points: translations that
 * were tried for each of its three. */
static void take_better(const search *s, db_lattice *lattice, double points) {
    db_cell_found found;
    db_lattice_fit(lattice, s->spots, s->count, s->near);
    found.agreement = db_lattice_agreement(lattice, DB_LATTICE_ANGLE, s->spots, s->count, NULL);
    found.agreement.tried = 3 * log(points);
    if (!db_agreement_is_better(&found.agreement, &s->best->agreement)) return;
    found.lattice = *lattice;
    reduce_rows(found.lattice.real);
    found.rows = fmin(0, log(points) + db_lattice_row_probability(&found.lattice, DB_LATTICE_ANGLE,
                                                                  s->spots, s->count));
    *s->best = found;
}

/* The best lattice of translations up to a length. affordable: 0 if there are too many to try. */
static db_status search_to(const search *s, double length, int *affordable) {
    db_translation t[DB_MOST_TRANSLATIONS];
    candidate list[CANDIDATES];
    size_t found;
    double points;
    DB_TRY(db_translations_find(s->context, s->spots, s->count, length, t, &found, &points));
    *affordable = points > 0;
    const size_t kept = combine_all(s, t, found, list);
    for (size_t k = 0; k < kept; k++) take_better(s, &list[k].lattice, points);
    return DB_OK;
}

static int is_enough(const db_agreement *a) { return (double)a->near > enough * (double)a->count; }

int db_cell_is_significant(const db_cell_found *found) {
    const db_agreement *const a = &found->agreement;
    return db_agreement_log_probability(a) <= -DB_CERTAIN && found->rows <= ROWS_SIGNIFICANT &&
           (double)a->near - a->by_chance >= least_part * (double)a->count;
}

/* Searches with longer and longer translations. */
static db_status search_all(const search *s) {
    db_context *const context = s->context;
    double length = first_length;
    int affordable = 1;
    for (int n = 0; n < LENGTHS && affordable && !is_enough(&s->best->agreement); n++) {
        DB_TRY(search_to(s, length, &affordable));
        length *= longer;
        if (context->progress && context->progress(context->progress_user, (n + 1.0) / LENGTHS))
            return db_fail(context, DB_ERROR_CANCELLED,
                           "cancelled while the cell was looked for: there is no model yet");
    }
    return DB_OK;
}

db_status db_cell_search(db_context *context, const db_search_spot *spots, size_t count,
                         db_cell_found *found) {
    unsigned char *const near = malloc(count + 1);
    const search s = { context, spots, count, near, found };
    memset(found, 0, sizeof *found);
    db_status status = db_need_memory(context, near, "the spots of the search for a cell");
    if (status == DB_OK && count >= DB_CELL_FEWEST_SPOTS) status = search_all(&s);
    free(near);
    return status;
}
