/* Sizes of public structs, for bindings to check. */
#include <dualbragg/fit_shots.h>

#include <string.h>

#define SIZE(name)                                                                                 \
    { #name, sizeof(name) }

static const struct {
    const char *name;
    size_t size;
} sizes[] = {
    SIZE(db_fit_region),        SIZE(db_fit_config),        SIZE(db_fit_direction),
    SIZE(db_fit_estimate),      SIZE(db_fit_estimates),     SIZE(db_fit_goodness),
    SIZE(db_fit_history),       SIZE(db_fit_lattice),       SIZE(db_fit_orientation),
    SIZE(db_fit_panel_groups),  SIZE(db_fit_parameter),     SIZE(db_fit_pixel),
    SIZE(db_fit_result),        SIZE(db_fit_settings),      SIZE(db_fit_shell),
    SIZE(db_fit_shoebox),       SIZE(db_fit_still),         SIZE(db_fit_shot_source),
    SIZE(db_fit_shots_event),   SIZE(db_fit_shots_options), SIZE(db_fit_shots_result),
    SIZE(db_fit_spot),          SIZE(db_fit_spots),         SIZE(db_fit_stage),
    SIZE(db_fit_start),         SIZE(db_fit_trial),         SIZE(db_fit_joint),
    SIZE(db_fit_starts),        SIZE(db_fit_statistics),    SIZE(db_fit_team),
    SIZE(db_fit_shot_identity), SIZE(db_fit_test),          SIZE(db_fit_verdict),
    SIZE(db_fit_quantity),      SIZE(db_fit_reflection),    SIZE(db_fit_passage),
    SIZE(db_fit_curves),        SIZE(db_fit_mates),
};

size_t db_fit_struct_size(const char *name) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(name, sizes[i].name) == 0) return sizes[i].size;
    return 0;
}
