/* Configurations when memory runs out: at every allocation in turn. */

#include "support/context.h"
#include "fit/scratch_file.h"
#include "support/every_allocation.h"

#include <dualbragg/fit.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
/* libyaml itself leaks the children of a node if it cannot keep the node. Its callers are seen only
 * by the slow way to find out who allocates. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void) { return "leak:yaml_parser_load"; }
const char *__asan_default_options(void) { return "fast_unwind_on_malloc=0"; }
#endif

static const char yaml[] =
    "image: shot_0001.cbf\n"
    "model:\n"
    "  cell: [58.123456789012345678, 58.4, 152.2, 90, 90, 90]\n"
    "  orientation: &o [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
    "  Ncells: [20, 20, 20]\n"
    "panel_groups: {near: [0, 3-4], far: [1, 2]}\n"
    "intensity: {hkl: a/file/with/a/name/that/is/rather/long/F.mtz, hkl_space_group: P 41 21 2}\n"
    "refine:\n"
    "  misset_x: {range: 0.5, prior: [0, 0.2]}\n"
    "  misset_y:\n"
    "  cell_a: {min: 57, max: 60}\n"
    "  cell_b: {follows: cell_a}\n"
    "  near:shift_fast: {range: 0.1}\n"
    "stages:\n"
    "  - {name: first, refine: [misset_x, misset_y], blur: 3}\n"
    "  - {name: \"second, with a name\", refine: [misset_x, misset_y, cell_a, cell_b]}\n";

static db_status read_configuration(db_context *own, int *right) {
    static db_fit_config config;
    static const char *const overrides[] = { "stages.first.blur=2", "model.phi=3.5" };
    const db_status status =
        db_fit_config_read(own, scratch_path("fit.yaml"), overrides, 2, &config);
    allocations_end();
    const db_fit_settings *const s = &config.settings;
    *right = status != DB_OK ||
             (config.setup.cell[0] == 58.123456789012345678 && config.setup.phi == 3.5 &&
              s->stage_count == 2 && s->stages[0].blur == 2 &&
              strcmp(s->stages[1].name, "second, with a name") == 0 && s->parameter_count == 5 &&
              s->parameters[0].prior[1] == 0.2 && s->panel_groups.count == 2 &&
              strstr(config.hkl_file, "long/F.mtz") != NULL &&
              strcmp(config.hkl_space_group, "P 41 21 2") == 0);
    return status;
}

static void reading_a_configuration(void **state) {
    (void)state;
    scratch_file("fit.yaml", yaml);
    at_every_allocation(context, read_configuration, 500);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(reading_a_configuration) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
