#include "kernel/oracle.h"

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/one_pixel.h"

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
