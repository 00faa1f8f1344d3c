/* The pixel of a thread, and its place in images. */
#ifndef DB_CUDA_PIXEL_PLACE_H
#define DB_CUDA_PIXEL_PLACE_H

#include "cuda/arguments.h"
#include "cuda/device_code.h"

typedef struct {
    const db_region *region;
    int fast, slow; /* in the region */
    size_t element; /* of image, data ... */
} pixel_place;

/* The region of pixel (or block) number i: the last one that starts at i or before. */
DB_CUDA_FN uint32_t region_of(const uint32_t *start, uint32_t regions, uint32_t i) {
    uint32_t low = 0, high = regions;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (start[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Pixel number i of all regions, one region after the other. */
DB_CUDA_FN pixel_place pixel_at(const db_cuda_arguments *a, uint32_t i) {
    pixel_place p;
    const uint32_t r = region_of(a->region_start, a->region_count, i);
    p.region = &a->job.region[r];
    const uint32_t in_region = i - a->region_start[r], row_length = (uint32_t)p.region->fast_count;
    const uint32_t slow = in_region / row_length, fast = in_region - slow * row_length;
    p.fast = (int)fast;
    p.slow = (int)slow;
    p.element = p.region->offset + slow * p.region->stride + fast;
    return p;
}

#endif
