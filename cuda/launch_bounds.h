/* The least number of a kernel's blocks per multiprocessor, which limits the registers of a thread (65536 /
 * (blocks x threads)): as many blocks as the mixed kernels allow without spills. tests/cuda/registers.record has
 * the resulting registers. */
#ifndef DB_CUDA_LAUNCH_BOUNDS_H
#define DB_CUDA_LAUNCH_BOUNDS_H

/* of spots in closed form */
#if DB_INSTANCE_KIND > 0
#define LEAST_TILE_BLOCKS 2
#elif defined(DB_INSTANCE_PRECISION_MIXED)
#define LEAST_TILE_BLOCKS 6
#else
#define LEAST_TILE_BLOCKS 10
#endif
#define LEAST_CELL_BLOCKS 8
#define LEAST_SUM_BLOCKS 8 /* of one warp each */

#if defined(DB_INSTANCE_PRECISION_MIXED)
#define LEAST_ROWS_BLOCKS 6 /* of stills */
#define LEAST_ROWS_BLOCKS_square 5
#define LEAST_ROWS_BLOCKS_few_cells 6
#define LEAST_ROWS_BLOCKS_compact 5
#else
#define LEAST_ROWS_BLOCKS 5
#define LEAST_ROWS_BLOCKS_square 5
#define LEAST_ROWS_BLOCKS_few_cells 5
#define LEAST_ROWS_BLOCKS_compact 5
#endif

/* of stills, one source, sub-pixel and sample */
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define LEAST_STILL_BLOCKS 4
#else
#define LEAST_STILL_BLOCKS 7
#endif

#if DB_INSTANCE_GENERAL && defined(DB_INSTANCE_FLAT)
#if DB_INSTANCE_KIND == 0
#define LEAST_IMAGE_BLOCKS_any 5
#else
#define LEAST_IMAGE_BLOCKS_any 3
#endif
#elif DB_INSTANCE_GENERAL
#define LEAST_IMAGE_BLOCKS_any 2
#elif DB_INSTANCE_KIND == 0 && defined(DB_INSTANCE_PRECISION_MIXED)
#define LEAST_IMAGE_BLOCKS_square 5
#define LEAST_IMAGE_BLOCKS_few_cells 4
#define LEAST_IMAGE_BLOCKS_compact 5
#elif DB_INSTANCE_KIND == 0
#define LEAST_IMAGE_BLOCKS_square 8
#define LEAST_IMAGE_BLOCKS_few_cells 8
#define LEAST_IMAGE_BLOCKS_compact 8
#elif DB_INSTANCE_KIND == 1
#define LEAST_IMAGE_BLOCKS_square 3
#define LEAST_IMAGE_BLOCKS_few_cells 3
#define LEAST_IMAGE_BLOCKS_compact 3
#else
#define LEAST_IMAGE_BLOCKS_square 3
#define LEAST_IMAGE_BLOCKS_compact 3
#endif

#if DB_INSTANCE_GENERAL && !defined(DB_INSTANCE_FLAT)
#define LEAST_NORMAL_BLOCKS 2
#else
#define LEAST_NORMAL_BLOCKS 3
#endif

#endif
