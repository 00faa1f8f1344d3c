/* Which pixels of a panel a spot reaches. */
#include "engine/spots.h"

static int to_pixels(const double from, const double to, int pixels, int32_t out[2]) {
    const double rounding = 1e-3;
    if (!(to + rounding > 0 && from - rounding < pixels)) return 0;
    out[0] = from - rounding > 0 ? (int32_t)floor(from - rounding) : 0;
    out[1] = to + rounding < pixels ? (int32_t)floor(to + rounding) + 1 : pixels;
    return 1;
}

int db_spot_box(const db_experiment *e, const db_interface *z, const db_spot_name *name,
                const db_spot_values *value, double cut, db_spot_entry *entry) {
    const db_panel *own = &e->detector.panels[name->panel];
    const spot_view_double_0 view = spot_view_of_double_0(&z->panel[name->panel], own->pixel_size,
                                                          e->detector.sensor_thickness);
    const spot_box_double_0 box = spot_box_of_double_0(&view, value, name->passage.moves, cut);
    return box.reached && to_pixels(box.from[0], box.to[0], own->fast_pixels, entry->fast) &&
           to_pixels(box.from[1], box.to[1], own->slow_pixels, entry->slow);
}
