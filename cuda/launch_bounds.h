/* How many blocks of a kernel a multiprocessor is to hold at least: what bounds the registers of a
 * thread (65536 / (blocks x threads)). Chosen so that no mixed kernel spills; the table of what
 * came of it is tests/cuda/registers.record. */
#ifndef DB_CUDA_LAUNCH_BOUNDS_H
#define DB_CUDA_LAUNCH_BOUNDS_H

#define LEAST_IMAGE_BLOCKS 1
#define LEAST_NORMAL_BLOCKS 1
#define LEAST_ROWS_BLOCKS 1

#endif
