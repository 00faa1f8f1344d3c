/* The boxes of a plan, and how all that is done with them comes by their image. */
#ifndef DB_ENGINE_BOXES_STATE_H
#define DB_ENGINE_BOXES_STATE_H

#include "engine/device_plan.h"

struct db_boxes {
    db_plan *plan;
    db_box_data data; /* borrowed */
    unsigned long version;
    db_box_frame frame;        /* of boxes in a measured image, borrowed; else all 0 */
    float *image;              /* of the host */
    float **derivative;        /* [parameter_count]: of the host; elements are NULL until needed */
    db_boxes_image rendered;   /* the last image rendered */
    unsigned long rendered_at; /* the plan's updates then */
    int is_here;
    unsigned long there; /* number of the plan's device image; 0: it was never there */
};

static inline size_t db_boxes_count(const db_boxes *boxes) {
    return boxes->plan->tiles.given_count;
}

/* Other boxes of the plan may have rendered since. */
static inline int db_boxes_are_there(const db_boxes *boxes) {
    return boxes->there && boxes->there == boxes->plan->versions.box_images;
}

/* Without data. sums: they are wanted, for which "auto" may choose the device. */
db_status db_boxes_make(db_plan *plan, int sums, db_boxes **boxes);

/* Before rendering: the next image, of the plan's current values, is in no memory yet. */
static inline void db_boxes_begin(db_boxes *boxes, db_boxes_image image) {
    boxes->rendered = image;
    boxes->rendered_at = boxes->plan->versions.values;
    boxes->is_here = 0;
    boxes->there = 0;
}

/* DB_ERROR_USAGE */
db_status db_boxes_refuse(const db_boxes *boxes, const char *what);

/* DB_ERROR_USAGE unless there is a rule for each box, with reserved members 0. */
db_status db_boxes_rules_check(const db_boxes *boxes, const db_box_rule *rule);

/* Brings the last image into the host's memory, since the processor takes over. anew: renders it first. */
db_status db_boxes_render_here(db_boxes *boxes, int anew);

#endif
