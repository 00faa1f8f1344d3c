#include "cli/mask.h"

#include "base/growth.h"

#include <stdlib.h>

/* Gaps in a row that are narrower are rendered, too: a piece of a row costs as much as this. */
enum { WORTH_A_GAP = 16 };

typedef struct region_list {
    db_region *region;
    size_t count, capacity;
} region_list;

/* 0 without memory. */
static int append(region_list *list, db_region region) {
    db_region *const grown =
        db_grown(list->region, &list->capacity, list->count + 1, sizeof *grown);
    if (!grown) return 0;
    list->region = grown;
    list->region[list->count++] = region;
    return 1;
}

/* End of the run of pixels that count which begins at `start`. */
static int run_end(const unsigned char *row, int start, int end) {
    int last = start;
    for (int i = start; i < end && i - last <= WORTH_A_GAP; i++)
        if (row[i]) last = i;
    return last + 1;
}

/* Rectangles that cover all pixels of the region of interest that count: runs of rows, joined with
 * the same run of the row above. `above`: the first rectangle that may reach to that row. */
static int cover(const unsigned char *mask, const db_region *roi, region_list *list) {
    size_t above = 0;
    for (int slow = 0; slow < roi->slow_count; slow++) {
        const size_t offset = roi->offset + (size_t)slow * roi->stride;
        const unsigned char *row = mask + offset;
        const size_t first = list->count;
        size_t candidate = above;
        for (int i = 0; i < roi->fast_count; i++) {
            if (!row[i]) continue;
            const int end = run_end(row, i, roi->fast_count);
            const int fast_start = roi->fast_start + i, slow_start = roi->slow_start + slow;
            while (candidate < first && list->region[candidate].fast_start < fast_start)
                candidate++;
            db_region *same = candidate < first ? &list->region[candidate] : NULL;
            if (same && same->fast_start == fast_start && same->fast_count == end - i &&
                same->slow_start + same->slow_count == slow_start)
                same->slow_count++;
            else if (!append(list, (db_region){ roi->panel, fast_start, slow_start, end - i, 1,
                                                offset + (size_t)i, roi->stride }))
                return 0;
            i = end - 1;
        }
        if (list->count > first) above = first;
    }
    return 1;
}

int db_mask_regions(const unsigned char *mask, const db_region *roi, db_region **regions,
                    size_t *count) {
    region_list list = { NULL, 0, 0 };
    const int complete = cover(mask, roi, &list);
    *regions = list.region;
    *count = list.count;
    return complete;
}
