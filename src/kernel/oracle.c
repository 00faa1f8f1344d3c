#define AD_MANY_INLINE 1
#include "kernel/oracle.h"

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/one_pixel.h"
#include "kernel/spot.h"
#include "kernel/spot_shape.h"
#include "kernel/spot_one_pixel.h"

#include <stdlib.h>

void db_oracle_render(const db_oracle *o, const db_region *regions, size_t region_count,
                      double *image, double *const *derivative) {
    const pixel_inputs inputs = { o->experiment, o->interface, o->slots, o->curve };
    for (size_t r = 0; r < region_count; r++) {
        const db_region *region = &regions[r];
        for (int slow = 0; slow < region->slow_count; slow++)
            for (int fast = 0; fast < region->fast_count; fast++) {
                const num pixel = pixel_intensity(&inputs, region->panel, region->fast_start + fast,
                                                  region->slow_start + slow);
                const size_t element =
                    region->offset + (size_t)slow * region->stride + (size_t)fast;
                image[element] = pixel.v;
                for (int k = 0; k < o->slots->count; k++) derivative[k][element] = pixel.d[k];
            }
    }
}

/* The spots of a region with their slopes; NULL without memory. */
static spot_shown *spots_of_region(const db_oracle *o, size_t region, size_t *count) {
    const uint32_t first = o->spots->first[region];
    *count = o->spots->first[region + 1] - first;
    spot_shown *shown = malloc((*count + 1) * sizeof *shown);
    for (size_t i = 0; shown && i < *count; i++) {
        const uint32_t number = o->spots->number[first + i];
        shown[i].entry = &o->entry[number];
        shown[i].value = spot_at(o->experiment, o->interface, o->slots, &o->entry[number].name);
    }
    return shown;
}

int db_oracle_render_spots(const db_oracle *o, const db_region *regions, size_t index,
                           double *image, double *const *derivative) {
    const pixel_inputs inputs = { o->experiment, o->interface, o->slots, o->curve };
    const db_region *region = &regions[index];
    size_t count;
    spot_shown *shown = spots_of_region(o, index, &count);
    if (!shown) return 0;
    for (int slow = 0; slow < region->slow_count; slow++)
        for (int fast = 0; fast < region->fast_count; fast++) {
            const num pixel = spots_pixel(&inputs, shown, count, region->panel,
                                          region->fast_start + fast, region->slow_start + slow);
            const size_t element = region->offset + (size_t)slow * region->stride + (size_t)fast;
            image[element] = pixel.v;
            for (int k = 0; k < o->slots->count; k++) derivative[k][element] = pixel.d[k];
        }
    free(shown);
    return 1;
}
