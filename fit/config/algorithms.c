/* Names of algorithms: LM, moments, and those of NLopt that work with bounds. */
#include "fit/config/algorithms.h"

#include "base/context_internal.h"
#include "base/nearest_name.h"

#include <nlopt.h>
#include <string.h>

static const char lm[] = "LM", moments[] = "moments";

/* NLopt's AUGLAG only handles constraints; its local methods without gradients are of no use where
 * gradients are exact; ISRES is for constraints too, but searches without any as well. */
static int usable(const char *name) {
    return (strncmp(name, "LD_", 3) == 0 || strncmp(name, "GN_", 3) == 0 ||
            strncmp(name, "GD_", 3) == 0 || strncmp(name, "G_", 2) == 0) &&
           !strstr(name, "AUGLAG");
}

size_t db_algorithm_names(const char *names[DB_ALGORITHMS_MOST]) {
    size_t count = 0;
    names[count++] = lm;
    names[count++] = moments;
    for (int a = 0; a < NLOPT_NUM_ALGORITHMS && count < DB_ALGORITHMS_MOST; a++) {
        const char *const name = nlopt_algorithm_to_string((nlopt_algorithm)a);
        if (name && usable(name)) names[count++] = name;
    }
    return count;
}

int db_algorithm_find(const char *name, db_algorithm *algorithm) {
    *algorithm = (db_algorithm){ .kind = DB_ALGORITHM_LM, .nlopt = -1, .takes_gradient = 1 };
    if (strcmp(name, lm) == 0) return 1;
    if (strcmp(name, moments) == 0) {
        algorithm->kind = DB_ALGORITHM_MOMENTS;
        return 1;
    }
    if (!usable(name)) return 0;
    algorithm->nlopt = (int)nlopt_algorithm_from_string(name);
    algorithm->kind = *name == 'G' ? DB_ALGORITHM_GLOBAL : DB_ALGORITHM_GRADIENT;
    algorithm->needs_local = strstr(name, "MLSL") != NULL;
    algorithm->takes_gradient = strncmp(name, "GN_", 3) != 0 || algorithm->needs_local;
    return algorithm->nlopt >= 0;
}

db_status db_algorithm_check(db_context *context, const char *name, db_algorithm *algorithm) {
    const char *known[DB_ALGORITHMS_MOST];
    if (db_algorithm_find(name, algorithm)) return DB_OK;
    const size_t count = db_algorithm_names(known);
    return db_fail(
        context, DB_ERROR_USAGE,
        "algorithm '%s': expected LM, moments, a gradient-based one of NLopt such as LD_LBFGS, or "
        "a global one such as GN_CRS2_LM%s",
        name, db_hint_at_names(name, known, count, NULL).text);
}
