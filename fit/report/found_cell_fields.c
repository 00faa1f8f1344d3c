/* A cell that was found, in PREFIX.json. */
#include "fit/report/result_fields.h"

#include <dualbragg/expert/fit_cell.h>

#define OF db_fit_bravais
static const db_json_field bravais_rows[] = {
    VALUE(symbol, "", "family and centring, as `tP`"),
    VALUE(cell, "Å, degree",
          "cell that explains the spots best at the given distance; for many images the median"),
    VALUE(strain, "",
          "largest change of an edge (relative) or an angle (radian) to this kind of lattice"),
    VALUE(indexed, "", "spots near nodes of this lattice"),
    VALUE(misfit, "",
          "mean square of the spots' distances from nodes, divided by that of the triclinic "
          "lattice, at the best detector distance"),
    FLAG(fits, "the spots cannot distinguish it from the triclinic lattice"),
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
    NAMED("spots", found.spots, "", "strongest spots of the image, which distinguish lattices"),
    NAMED("indexed", found.indexed, "", "spots near nodes of the triclinic lattice"),
    NAMED("by_chance", found.by_chance, "",
          "expected `indexed` for one lattice in a random orientation"),
    NAMED("log_probability", found.log_probability, "",
          "ln of the probability that one of all tried lattices explains as many spots by chance"),
    VALUE(reduced, "Å, degree", "reduced cell"),
    VALUE(chosen, "", "index into `lattices` of the model's lattice"),
    NAMED_FLAG("named", named, "its symmetry was given"),
    VALUE(distance, "",
          "relative change of the detector distance for which the spots ask; 0: none found"),
    VALUE(images, "", "images that were searched"),
    VALUE(agreeing, "", "images with this cell"),
    MADE("lattices", bravais_list, "list", &bravais_fields, "",
         "possible Bravais lattices, the highest symmetry first"),
};
TABLE(db_found_cell_fields, found_rows);
#undef OF

json_t *db_make_found_cell(db_document *d, const void *of) {
    (void)of;
    return d->config->found_cell ? db_json_object(d, &db_found_cell_fields, d->config->found_cell)
                                 : json_null();
}
