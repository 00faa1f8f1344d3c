/* Which pixels are rendered where a mask leaves some out. */
#ifndef DB_CLI_MASK_H
#define DB_CLI_MASK_H

#include <dualbragg/plan.h>

/* Rectangles that cover the pixels of a region that are not 0 in the mask. The caller frees them,
 * whatever is returned: 0 without memory. */
int db_mask_regions(const unsigned char *mask, const db_region *roi, db_region **regions,
                    size_t *count);

#endif
