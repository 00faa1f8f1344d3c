/* Sizes of the public structs, for callers from other languages. */
#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/expert/stages.h>

#include <string.h>

#define SIZE(name)                                                                                 \
    { #name, sizeof(name) }

static const struct {
    const char *name;
    size_t size;
} sizes[] = {
    SIZE(db_background),
    SIZE(db_beam),
    SIZE(db_beam_spread),
    SIZE(db_crystal),
    SIZE(db_detector),
    SIZE(db_experiment),
    SIZE(db_expt_image),
    SIZE(db_goniometer),
    SIZE(db_image_panel),
    SIZE(db_measured_image),
    SIZE(db_noise_frame),
    SIZE(db_noise_options),
    SIZE(db_noise_summary),
    SIZE(db_panel),
    SIZE(db_parameter_facts),
    SIZE(db_parameter_info),
    SIZE(db_plan_info),
    SIZE(db_plan_options),
    SIZE(db_plan_vector),
    SIZE(db_precision_advice),
    SIZE(db_predicted_spots),
    SIZE(db_reference_mode),
    SIZE(db_region),
    SIZE(db_setup),
    SIZE(db_setup_field),
    SIZE(db_site_kind),
    SIZE(db_site_kinds),
    SIZE(db_smv_style),
    SIZE(db_source),
    SIZE(db_space_group),
    SIZE(db_spot),
    SIZE(db_spot_options),
    SIZE(db_spread),
    SIZE(db_spread_setup),
    SIZE(db_stage),
    SIZE(db_stated_placement),
    SIZE(db_structure_factors),
    SIZE(db_symmetry),
};

size_t db_struct_size(const char *name) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(name, sizes[i].name) == 0) return sizes[i].size;
    return 0;
}
