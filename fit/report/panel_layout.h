/* Places of the panels of a detector in a picture, as the beam sees them. */
#ifndef DB_FIT_REPORT_PANEL_LAYOUT_H
#define DB_FIT_REPORT_PANEL_LAYOUT_H

#include <dualbragg/fit.h>

/* Image rows of a panel, and its place in the picture: its pixel (f, s) is at corner + f fast + s slow, in pixels
 * of the picture. */
typedef struct db_panel_place {
    int first_row, fast_pixels, slow_pixels;
    double corner[2], fast[2], slow[2];
} db_panel_place;

typedef struct db_panel_layout {
    int fast, slow; /* pixels of the picture */
    int columns;    /* width of the image, whose panels are one below the other */
    size_t count;
    db_panel_place *panel; /* owned */
} db_panel_layout;

/* One panel is shown unchanged. Several are placed by the experiment's geometry, projected along the beam, with
 * the first one's fast axis to the right; panels that do not fit such a picture (edge-on, or widely scattered)
 * stay one below the other. */
db_status db_panel_layout_make(db_context *context, const db_experiment *experiment,
                               const db_measured_image *image, db_panel_layout *layout);

/* The panels as in the image, without an experiment. */
db_status db_panel_layout_stack(db_context *context, const db_measured_image *image,
                                db_panel_layout *layout);
void db_panel_layout_clear(db_panel_layout *layout);

/* Place of a panel's point in the picture. */
static inline void db_panel_layout_point(const db_panel_layout *layout, size_t panel, double fast,
                                         double slow, double point[2]) {
    const db_panel_place *const p = &layout->panel[panel < layout->count ? panel : 0];
    for (int i = 0; i < 2; i++) point[i] = p->corner[i] + fast * p->fast[i] + slow * p->slow[i];
}

/* A point of the picture in pixels of a panel, extended beyond its edges. */
static inline void db_panel_layout_on_panel(const db_panel_layout *layout, size_t panel, double x,
                                            double y, double point[2]) {
    const db_panel_place *const p = &layout->panel[panel];
    const double determinant = p->fast[0] * p->slow[1] - p->fast[1] * p->slow[0];
    const double dx = x - p->corner[0], dy = y - p->corner[1];
    point[0] = (dx * p->slow[1] - dy * p->slow[0]) / determinant;
    point[1] = (dy * p->fast[0] - dx * p->fast[1]) / determinant;
}

/* The rectangle of the picture around a rectangle of a panel: fast, slow of its corner, width, height. */
void db_panel_layout_box(const db_panel_layout *layout, size_t panel, double fast, double slow,
                         double fast_count, double slow_count, double box[4]);

/* Values of an image at their places in the picture, layout->fast x layout->slow; NAN outside panels. */
void db_panel_layout_compose(const db_panel_layout *layout, const float *image, float *picture);

#endif
