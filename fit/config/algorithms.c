/* Names of algorithms: LM, moments, and those of NLopt that work with bounds. */
#include "fit/config/algorithms.h"

#include "base/context_internal.h"
#include "base/nearest_name.h"

#include <nlopt.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {
    [DB_STAGE_PIXELS] = "LM", [DB_STAGE_MOMENTS] = "moments", [DB_STAGE_INTENSITIES] = "intensities"
};
enum { WORDS = sizeof words / sizeof *words };
_Static_assert((int)WORDS == (int)DB_STAGE_NLOPT, "each kind but NLopt's has a word");

/* NLopt's AUGLAG only handles constraints; its local methods without gradients are of no use where
 * gradients are exact; ISRES is for constraints too, but searches without any as well. */
static int usable(const char *name) {
    return (strncmp(name, "LD_", 3) == 0 || strncmp(name, "GN_", 3) == 0 ||
            strncmp(name, "GD_", 3) == 0 || strncmp(name, "G_", 2) == 0) &&
           !strstr(name, "AUGLAG");
}

static int is_method(const char *name) {
    return usable(name) && (int)nlopt_algorithm_from_string(name) >= 0;
}

size_t db_algorithm_names(const char *names[DB_ALGORITHMS_MOST]) {
    size_t count = 0;
    while (count < WORDS) {
        names[count] = words[count];
        count++;
    }
    for (int a = 0; a < NLOPT_NUM_ALGORITHMS && count < DB_ALGORITHMS_MOST; a++) {
        const char *const name = nlopt_algorithm_to_string((nlopt_algorithm)a);
        if (name && usable(name)) names[count++] = name;
    }
    return count;
}

const char *db_stage_algorithm(const db_fit_stage *stage) {
    return stage->kind == DB_STAGE_NLOPT ? stage->nlopt : words[stage->kind];
}

int db_stage_take_algorithm(db_fit_stage *stage, const char *name) {
    for (int kind = 0; kind < WORDS; kind++)
        if (strcmp(name, words[kind]) == 0) {
            stage->kind = (db_stage_kind)kind;
            return 1;
        }
    if (!is_method(name)) return 0;
    stage->kind = DB_STAGE_NLOPT;
    snprintf(stage->nlopt, sizeof stage->nlopt, "%s", name);
    return 1;
}

db_status db_stage_check_method(db_context *context, const db_fit_stage *stage) {
    const char *known[DB_ALGORITHMS_MOST];
    if (stage->kind != DB_STAGE_NLOPT || is_method(stage->nlopt)) return DB_OK;
    const size_t count = db_algorithm_names(known);
    return db_fail(
        context, DB_ERROR_USAGE,
        "algorithm '%s': expected LM, moments, a gradient-based one of NLopt such as LD_LBFGS, or "
        "a global one such as GN_CRS2_LM%s",
        stage->nlopt, db_hint_at_names(stage->nlopt, known, count, NULL).text);
}
