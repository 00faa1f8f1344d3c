/* How many blocks of a kernel a multiprocessor is to hold at least, which bounds the registers of a
 * thread (65536 / (blocks x threads)): as many as leave the mixed kernels without spills. What came
 * of it is recorded in tests/cuda/registers.record. */
#ifndef DB_CUDA_LAUNCH_BOUNDS_H
#define DB_CUDA_LAUNCH_BOUNDS_H

#define LEAST_ROWS_BLOCKS 6

#if DB_INSTANCE_GENERAL
#define LEAST_IMAGE_BLOCKS_any 2
#elif DB_INSTANCE_KIND == 0
#define LEAST_IMAGE_BLOCKS_square 6
#define LEAST_IMAGE_BLOCKS_few_cells 6
#define LEAST_IMAGE_BLOCKS_compact 6
#elif DB_INSTANCE_KIND == 1
#define LEAST_IMAGE_BLOCKS_square 3
#define LEAST_IMAGE_BLOCKS_few_cells 4
#define LEAST_IMAGE_BLOCKS_compact 4
#else
#define LEAST_IMAGE_BLOCKS_square 3
#define LEAST_IMAGE_BLOCKS_compact 3
#endif

#if DB_INSTANCE_GENERAL
#define LEAST_NORMAL_BLOCKS 2
#else
#define LEAST_NORMAL_BLOCKS 3
#endif

#endif
