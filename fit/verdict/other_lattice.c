/* Another crystal on the image: searches for a lattice of the same cell among the spots that lie at no reflection
 * of the model, however weakly excited (docs/theory/verdict.md, Another lattice). */
#include "fit/verdict/other_lattice.h"

#include "base/context_internal.h"
#include "fit/search/find_orientation.h"

#include <stdlib.h>
#include <string.h>

/* Part of all spots, because a weaker crystal's are not among the strongest. Fewer are spots of ice, artefacts,
 * and displaced spots. */
static const double MANY_LEFT = 0.1;
static const size_t FEWEST_LEFT = 20;
/* Number of the strongest left spots to search: enough to find a lattice, and fast. */
static const size_t MOST_SEARCHED = 120;
/* Least fraction of these beyond chance: another cell may agree in a row or a layer of nodes. */
static const double LEAST_PART = 0.2;

int db_many_spots_left(size_t left, size_t all) {
    return left >= FEWEST_LEFT && (double)left >= MANY_LEFT * (double)all;
}

/* Spots that are likelier at random places than at nodes of the lattice. */
static db_status list_left(db_context *context, const db_evidence *e,
                           const db_observed_spots *spots, db_observed_spots *left) {
    *left = (db_observed_spots){ .spot = malloc((spots->count + 1) * sizeof *left->spot) };
    if (!left->spot) return db_fail_memory(context, "spots at no reflection");
    for (size_t i = 0; i < spots->count; i++)
        if (!db_evidence_is_at(e, i)) left->spot[left->count++] = spots->spot[i];
    return DB_OK;
}

static void keep_if_many(db_fit_orientation *found) {
    if ((double)found->indexed - found->by_chance < LEAST_PART * (double)found->spots)
        memset(found, 0, sizeof *found);
}

/* A model that was refined to the spots of two lattices lies between them, and is so wide that it leaves no spots. The start
 * was beside one of them, and left those of the other. */
static db_status look_from(db_context *context, const db_experiment *start,
                           const db_fit_settings *settings, const db_observed_spots *spots,
                           db_fit_orientation *found) {
    size_t left = 0;
    DB_TRY(db_find_other_lattice(context, start, settings, spots, MOST_SEARCHED, &left, found));
    if (!db_many_spots_left(left, spots->count)) memset(found, 0, sizeof *found);
    keep_if_many(found);
    return DB_OK;
}

db_status db_other_lattice_look(db_context *context, const db_experiment *model,
                                const db_experiment *start, const db_fit_settings *settings,
                                const db_evidence *evidence, const db_observed_spots *spots,
                                db_fit_result *result) {
    db_fit_orientation *const found = &result->other_lattice;
    db_observed_spots left;
    DB_TRY(list_left(context, evidence, spots, &left));
    result->all_spots = spots->count;
    result->left_spots = left.count;
    db_status status = DB_OK;
    if (db_many_spots_left(left.count, spots->count)) {
        status = db_find_other_lattice(context, model, settings, &left, MOST_SEARCHED, NULL, found);
        keep_if_many(found);
    } else if (start && !result->verdict.usable) {
        status = look_from(context, start, settings, spots, found);
    }
    db_observed_spots_clear(&left);
    return status;
}
