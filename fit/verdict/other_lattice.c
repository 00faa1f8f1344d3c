/* Another crystal on the image: searches for a lattice of the same cell among the spots that lie at no reflection
 * of the model, however weakly excited (docs/theory/verdict.md, Another lattice). */
#include "fit/verdict/conclude.h"

#include "base/context_internal.h"
#include "fit/search/find_orientation.h"

#include <string.h>

/* Part of all spots, because a weaker crystal's are not among the strongest. Fewer are spots of ice, artefacts,
 * and displaced spots. */
static const double MANY_LEFT = 0.1;
static const size_t FEWEST_LEFT = 20;
/* Number of the strongest left spots to search: enough to find a lattice, and fast. */
static const size_t MOST_SEARCHED = 120;
/* Least fraction of these beyond chance: another cell may agree in a row or a layer of nodes. */
static const double LEAST_PART = 0.2;

/* Drops spots that are likelier at nodes of the lattice than at random places. */
static void keep_left(const db_evidence *e, db_observed_spots *spots) {
    size_t count = 0;
    for (size_t i = 0; i < spots->count; i++)
        if (!db_evidence_is_at(e, i)) spots->spot[count++] = spots->spot[i];
    spots->count = count;
}

db_status db_other_lattice_look(db_context *context, const db_experiment *model,
                                const db_fit_settings *settings, const db_evidence *evidence,
                                db_observed_spots *spots, db_fit_result *result) {
    const size_t all = spots->count;
    db_fit_orientation *const found = &result->other_lattice;
    keep_left(evidence, spots);
    result->all_spots = all;
    result->left_spots = spots->count;
    if (spots->count < FEWEST_LEFT || (double)spots->count < MANY_LEFT * (double)all) return DB_OK;
    if (spots->count > MOST_SEARCHED) spots->count = MOST_SEARCHED;
    DB_TRY(db_find_other_lattice(context, model, settings, spots, found));
    if ((double)found->indexed - found->by_chance < LEAST_PART * (double)found->spots)
        memset(found, 0, sizeof *found);
    return DB_OK;
}
