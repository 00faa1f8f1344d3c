/* A cell that was found, in PREFIX.json. */
#include "fit/report/result_fields.h"

#include <dualbragg/expert/fit_cell.h>

#define OF db_fit_bravais
static const db_json_field bravais_rows[] = {
    VALUE(symbol, "", "family and centring, as `tP`"),
    VALUE(cell, "Å, degree",
          "that explains the spots best at the distance given; of many images the median"),
    VALUE(strain, "",
          "largest change of an edge (a part) or an angle (radian) that made the lattice one of "
          "this kind"),
    VALUE(indexed, "", "spots near its nodes"),
    VALUE(misfit, "",
          "mean square of their distances from nodes, in those of the triclinic lattice, with the "
          "best distance"),
    FLAG(fits, "the spots do not tell it from the triclinic one"),
};
static TABLE(bravais_fields, bravais_rows);
#undef OF

static json_t *bravais_list(db_document *d, const void *of) {
    const db_fit_found_cell *const cell = of;
    return db_json_list(d, &bravais_fields, cell->lattice, (size_t)cell->count,
                        sizeof *cell->lattice);
}

#define OF db_fit_found_cell
static const db_json_field found_rows[] = {
    NAMED("spots", found.spots, "", "the strongest of the image, that tell lattices apart"),
    NAMED("indexed", found.indexed, "", "of them, near nodes of the triclinic lattice"),
    NAMED("by_chance", found.by_chance, "", "of `indexed`, for one lattice turned at random"),
    NAMED(
        "log_probability", found.log_probability, "",
        "ln of the probability that chance brings as many to one of all lattices that were tried"),
    VALUE(reduced, "Å, degree", "reduced cell"),
    VALUE(chosen, "", "index into the lattices: the model's"),
    NAMED_FLAG("named", named, "its symmetry was asked for"),
    VALUE(distance, "",
          "part by which the spots ask for a detector that is farther; 0: nothing found"),
    VALUE(images, "", "that were searched"),
    VALUE(agreeing, "", "of them, with this cell"),
    MADE("lattices", bravais_list, "list", &bravais_fields, "",
         "Bravais lattices that it may be, the highest symmetry first"),
};
TABLE(db_found_cell_fields, found_rows);
#undef OF

json_t *db_make_found_cell(db_document *d, const void *of) {
    (void)of;
    return d->config->found_cell ? db_json_object(d, &db_found_cell_fields, d->config->found_cell)
                                 : json_null();
}
