#include "fit/verdict/displaced_spots.h"

#include <math.h>

size_t db_spots_elsewhere(const db_spot_pattern *p, const db_spot_choice *all,
                          db_observed_spot *spot) {
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        double distance;
        if (db_spot_pattern_around(p, &all->spot[i], &distance) == p->prediction.count)
            spot[count++] = all->spot[i];
    }
    return count;
}

/* What would bring a spot to the nearest well excited reflection (pixels); 0: none is near. */
static int shift_of(const db_spot_pattern *p, const db_observed_spot *spot, double shift[2]) {
    double distance = 2 * p->grid.cell;
    const size_t n = db_reflection_grid_nearest(&p->grid, spot->panel, spot->position,
                                                p->prediction.count, &distance);
    if (n == p->prediction.count) return 0;
    for (int a = 0; a < 2; a++)
        shift[a] = p->prediction.reflection[n].position[a] - spot->position[a];
    return 1;
}

size_t db_most_displaced(const db_spot_limits *limits, const db_spot_pattern *well,
                         const db_spot_pattern *pattern, const db_observed_spot *spot, size_t count,
                         double shift[2]) {
    db_observed_spot moved[DB_MOST_JUDGED];
    const db_spot_choice as_they_are = { spot, count, 1, -1, 1 },
                         choice = { moved, count, 1, -1, 1 };
    const db_spot_places here = db_spot_places_look(pattern, &as_they_are);
    size_t most = here.inner;
    for (size_t i = 0; i < count; i++) {
        double by[2];
        if (!shift_of(well, &spot[i], by)) continue;
        for (size_t k = 0; k < count; k++) {
            moved[k] = spot[k];
            for (int a = 0; a < 2; a++) moved[k].position[a] += by[a];
        }
        const db_spot_places there = db_spot_places_look(pattern, &choice);
        /* as many shifts are tried as there are spots */
        if (there.log_chance + log((double)count) >= log(limits->chance) ||
            db_spot_places_contrast(&there) < limits->contrast || there.inner <= most)
            continue;
        most = there.inner;
        for (int a = 0; a < 2; a++) shift[a] = -by[a];
    }
    return most - here.inner;
}
