/* The device's kernels of spots in closed form, of one kind and precision, from the same headers as on the
 * processor. Compiled many times, with the definitions of kernel/spot_instance.c except instruction sets. */
#define LANES 1
#define DB_LOOSE_COLUMNS_APART 1
/* With a halo kernels would spill registers, also where there is none. */
#define DB_INSTANCE_WITHOUT_HALO 1
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define BLOCK DB_CUDA_BLOCK
#else
#define BLOCK DB_CUDA_DOUBLE_BLOCK
#endif

#include "kernel/pixel_group.h"
#include "kernel/normal_row.h"

#include "cuda/arguments.h"
#include "cuda/device_code.h"
#include "cuda/launch_bounds.h"
#include "kernel/spot_lanes.h"

#include "cuda/spots.h"

#define NAME__(use, tag, shape) db_cuda_##use##_##tag##_##shape
#define NAME_(use, tag, shape) NAME__(use, tag, shape)
#define NAME(use, shape) NAME_(use, DB_INSTANCE_TAG, shape)

DB_CUDA_KERNEL(NAME(image, rest), BLOCK, LEAST_TILE_BLOCKS) { render_tile(SPOTS_REST, a); }
DB_CUDA_KERNEL(NAME(image, move), BLOCK, LEAST_TILE_BLOCKS) { render_tile(SPOTS_MOVE, a); }
#if DB_INSTANCE_KIND > 0
DB_CUDA_KERNEL(NAME(cells, any), BLOCK, LEAST_CELL_BLOCKS) { find_cells(a); }
DB_CUDA_KERNEL(NAME(normal, rest), DB_CUDA_WARP, LEAST_SUM_BLOCKS) { sum_tiles(SPOTS_REST, a); }
DB_CUDA_KERNEL(NAME(normal, move), DB_CUDA_WARP, LEAST_SUM_BLOCKS) { sum_tiles(SPOTS_MOVE, a); }
#endif
