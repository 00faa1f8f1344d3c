#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise */
#include <sys/mman.h>
#endif

#include "cli/image_buffer.h"

#include <stdlib.h>
#include <string.h>

enum { HUGE_PAGE = 2 << 20 };

float *db_image_buffer(const db_panel *panel, const db_region *region) {
    const size_t bytes = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels * sizeof(float);
    const size_t rounded = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    float *image = bytes < HUGE_PAGE ? malloc(bytes) : aligned_alloc(HUGE_PAGE, rounded);
    if (!image) return NULL;
#if defined(MADV_HUGEPAGE)
    if (bytes >= HUGE_PAGE)
        (void)madvise(image, rounded, MADV_HUGEPAGE); /* only advice: may fail */
#endif
    const int whole =
        region->fast_count == panel->fast_pixels && region->slow_count == panel->slow_pixels;
    if (!whole) memset(image, 0, bytes);
    return image;
}
