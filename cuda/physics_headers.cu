/* The physics headers compiled for the device: the same pixel group as on the CPU, one pixel per
 * thread. Compiling this file for the configured architectures is the check that no header strays
 * from what both languages and both machines understand. */
#include "kernel/job.h"

#define LANES 1
#define SHAPE_REAL float
#define DB_INSTANCE_PRECISION_MIXED 1
#define DB_INSTANCE_KIND 2
#define DB_INSTANCE_GENERAL 1

#include "kernel/instance_types.h"
#include "kernel/lattice_factor.h"
#include "kernel/table_lookup.h"
#include "kernel/pixel_group.h"

/* Renders one pixel per thread of a region into intensity and the columns before DB_COLUMN_ROTATION
 * (pixel-major). */
__global__ void db_cuda_pixel_columns(db_kernel_job job, db_region region, float *intensity,
                                      float *columns) {
    const int fast = (int)(blockIdx.x * blockDim.x + threadIdx.x), slow = (int)blockIdx.y;
    if (fast >= region.fast_count) return;
    pixel_sums sums;
    render_group((kernel_shape)job.shape, 1, &job, &job.panel[region.panel],
                 region.fast_start + fast, region.slow_start + slow, &sums);
    const size_t pixel = (size_t)slow * region.stride + (size_t)fast;
    intensity[pixel] = sums.intensity;
    for (int c = 0; c < DB_COLUMN_ROTATION; c++)
        columns[pixel * DB_COLUMN_ROTATION + c] = sums.column[c];
}
