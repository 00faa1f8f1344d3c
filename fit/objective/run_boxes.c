/* Blocks of an objective as boxes of the library. */
#include "fit/objective/objective.h"

#include "base/context_internal.h"

/* Fills the rules: free coefficients of each block. */
static void fill_rules(const db_objective *objective) {
    const struct db_objective_work *const work = objective->work;
    const int own = db_objective_has_own_intensities(objective);
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_block block = db_objective_block(objective, b);
        db_box_rule *const r = &work->rule[b];
        *r = (db_box_rule){ .ridge = block.ridge,
                            .expected = block.expected,
                            .held_at_zero = (unsigned char)own,
                            .links = work->lists > 1 ? block.region.panel : 0 };
        for (int i = 0; i < DB_LINEAR; i++) r->solved[i] = r->summed[i] = block.used[i] != 0;
        if (!own) r->solved[0] = 0; /* given, or found together with other blocks */
    }
}

/* Fills the links between blocks and variables, by the panel of the blocks. */
static void fill_links(const db_objective *objective) {
    const struct db_objective_work *const work = objective->work;
    size_t variables[DB_BLOCK_MOST];
    for (size_t panel = 0; panel < work->lists; panel++) {
        db_link *const links = work->list_links + panel * DB_BLOCK_MOST_LINKS;
        const size_t n = db_objective_panel_variables(objective, panel, variables);
        work->list[panel] = (db_box_links){ .link = links,
                                            .count = db_variables_links(
                                                &objective->variables, work->links,
                                                &objective->placement, panel, variables, n, links),
                                            .variables = n };
    }
}

static db_status bring_data(db_objective *objective) {
    struct db_objective_work *const work = objective->work;
    const db_block any = db_objective_block(objective, 0);
    db_box_data data = DB_BOX_DATA_INIT;
    if (work->data_current) return DB_OK;
    data.value = any.value;
    data.weight = any.weight;
    data.shape_variance = any.shape_variance;
    data.offset = any.offset;
    DB_TRY(db_boxes_set_data(work->boxes, &data));
    work->data_current = 1;
    return DB_OK;
}

db_status db_objective_run_boxes(db_objective *objective, db_boxes_image image, int solve,
                                 db_boxes_sums sums) {
    struct db_objective_work *const work = objective->work;
    db_boxes_request request = DB_BOXES_REQUEST_INIT;
    if (!objective->blocks.count) return DB_OK;
    DB_TRY(bring_data(objective));
    fill_rules(objective);
    fill_links(objective);
    request.loss = &objective->loss_of;
    request.rule = work->rule;
    /* derivatives come with the image */
    request.image = image <= work->shown ? DB_BOXES_AS_BEFORE : image;
    request.solve = solve;
    request.sums = sums;
    request.links = work->list;
    request.link_lists = work->lists;
    request.kept = db_objective_has_own_intensities(objective) ? 0 : 1;
    request.most = work->most;
    if (request.image != DB_BOXES_AS_BEFORE) work->shown = DB_BOXES_AS_BEFORE;
    const db_status status =
        db_boxes_evaluate(work->boxes, &request, objective->solution,
                          sums == DB_BOXES_LINEAR ? (void *)work->linear_sums : (void *)work->sums);
    if (request.image != DB_BOXES_AS_BEFORE && status == DB_OK) work->shown = image;
    return status;
}

db_status db_objective_bring(db_objective *objective) {
    return objective->blocks.count ? db_boxes_image_of(objective->work->boxes, &objective->shape)
                                   : DB_OK;
}
