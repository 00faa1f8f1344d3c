/* Sizes of the public structs, for callers from other languages. */
#include <dualbragg/dualbragg.h>

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
    SIZE(db_block_sums),
    SIZE(db_box_data),
    SIZE(db_box_frame),
    SIZE(db_box_links),
    SIZE(db_box_measured),
    SIZE(db_box_rule),
    SIZE(db_box_solution),
    SIZE(db_boxes_request),
    SIZE(db_colour_scale),
    SIZE(db_crystal),
    SIZE(db_detector),
    SIZE(db_experiment),
    SIZE(db_expt_content),
    SIZE(db_expt_image),
    SIZE(db_expt_panel),
    SIZE(db_expt_selection),
    SIZE(db_file_kind),
    SIZE(db_goniometer),
    SIZE(db_image_panel),
    SIZE(db_link),
    SIZE(db_listed_shot),
    SIZE(db_listed_shots),
    SIZE(db_loss),
    SIZE(db_measured_image),
    SIZE(db_module_grid),
    SIZE(db_mtz_column),
    SIZE(db_mtz_content),
    SIZE(db_noise_frame),
    SIZE(db_noise_options),
    SIZE(db_noise_summary),
    SIZE(db_panel),
    SIZE(db_panel_motion),
    SIZE(db_parameter_info),
    SIZE(db_plan_options),
    SIZE(db_plan_vector),
    SIZE(db_precision_advice),
    SIZE(db_predicted_spots),
    SIZE(db_reference_mode),
    SIZE(db_reflection_table),
    SIZE(db_region),
    SIZE(db_setup),
    SIZE(db_setup_field),
    SIZE(db_smv_style),
    SIZE(db_source),
    SIZE(db_space_group),
    SIZE(db_spectrum),
    SIZE(db_spot),
    SIZE(db_spot_options),
    SIZE(db_spread),
    SIZE(db_spread_setup),
    SIZE(db_stage),
    SIZE(db_stated_placement),
    SIZE(db_structure_factor_options),
    SIZE(db_structure_factors),
    SIZE(db_sum_options),
    SIZE(db_sum_statistics),
    SIZE(db_summand),
    SIZE(db_symmetry),
    SIZE(db_trace_sample),
    SIZE(db_trace_sum),
    SIZE(db_table_column),
    SIZE(db_table_content),
    SIZE(db_table_identifier),
};

size_t db_struct_size(const char *name) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(name, sizes[i].name) == 0) return sizes[i].size;
    return 0;
}
