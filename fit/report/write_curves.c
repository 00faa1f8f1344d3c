/* Refined curves of f' and f'': a file of each, and a list in PREFIX.json. */
#include "fit/report/result_fields.h"

#include "base/context_internal.h"
#include "base/text_stream.h"
#include "fit/result/curves_found.h"

#include <math.h>
#include <stdio.h>

db_status db_write_found_curve(db_context *context, const char *path, const db_fit_config *config,
                               const db_fit_estimates *estimates, size_t kind) {
    db_found_curves found;
    db_text_stream text;
    db_status status =
        db_curves_found(context, config->sites, &config->settings, estimates, &found);
    if (status == DB_OK && kind >= found.count)
        status = db_fail(context, DB_ERROR_USAGE, "%s: expected a refined curve, found none", path);
    if (status == DB_OK) status = db_text_stream_open(context, &text);
    if (status != DB_OK) {
        db_found_curves_clear(&found);
        return status;
    }
    const db_found_curve *const c = &found.kind[kind];
    fprintf(text.stream, "# dualbragg %s: refined f' and f'' of %s (electrons); ", db_version(),
            c->name);
    if (isfinite(c->edge))
        fprintf(text.stream, "edge %.7g eV, standard error %.3g eV", c->edge, c->edge_error);
    else
        fputs("no edge, because f'' does not rise by more than twice its error", text.stream);
    fputs("\n# energy f' f'' error(f') error(f'')\n", text.stream);
    for (size_t i = 0; i < c->count; i++) {
        const db_curve_point *const p = &c->point[i];
        fprintf(text.stream, "%.10g %.8g %.8g %.4g %.4g\n", p->energy, p->f_prime, p->f_second,
                p->f_prime_error, p->f_second_error);
    }
    db_found_curves_clear(&found);
    return db_text_stream_write(context, &text, DB_OK, path);
}

#define NUMBERS_OF(name, member)                                                                   \
    static json_t *name(db_document *d, const void *of) {                                          \
        const db_found_curve *const c = of;                                                        \
        json_t *const array = json_array();                                                        \
        for (size_t i = 0; i < c->count; i++)                                                      \
            db_document_add(d, array, db_document_number(c->point[i].member));                     \
        return array;                                                                              \
    }
NUMBERS_OF(energies, energy)
NUMBERS_OF(first_values, f_prime)
NUMBERS_OF(first_errors, f_prime_error)
NUMBERS_OF(second_values, f_second)
NUMBERS_OF(second_errors, f_second_error)

#define OF db_found_curve
static const db_json_field curve_rows[] = {
    NAMED("sites", name, "", "as in `intensity.sites`"),
    VALUE(edge, "eV",
          "energy at which f'' rises through the middle between two levels: the means of its "
          "points in both wings (`curves.wings`); without wings the means, weighted by errors, of "
          "points 10 eV or more below and above its step (of all points of a side that has none "
          "of these); null: f'' does not rise by more than "
          "twice its error"),
    VALUE(edge_error, "eV", "standard error of the edge"),
    VALUE(shift, "eV",
          "energy shift of f'' from the first kind: area between both curves around their edges, "
          "divided by the edge step"),
    VALUE(shift_error, "eV", "standard error of the shift"),
    MADE("energy", energies, "list of numbers", NULL, "eV", "points of the curve"),
    MADE("fp", first_values, "list of numbers", NULL, "electrons", "f' at these energies"),
    MADE("fp_error", first_errors, "list of numbers", NULL, "electrons", "standard errors of f'"),
    MADE("fdp", second_values, "list of numbers", NULL, "electrons", "f'' at these energies"),
    MADE("fdp_error", second_errors, "list of numbers", NULL, "electrons",
         "standard errors of f''"),
};
TABLE(db_curve_fields, curve_rows);
#undef OF

json_t *db_make_curves(db_document *d, const void *of) {
    db_found_curves found;
    json_t *array = NULL;
    (void)of;
    if (db_curves_found(NULL, d->config->sites, &d->config->settings, d->estimates, &found) ==
        DB_OK)
        array = db_json_list(d, &db_curve_fields, found.kind, found.count, sizeof *found.kind);
    db_found_curves_clear(&found);
    return array;
}
