/* Memory for whole images. */
#ifndef DB_CLI_IMAGE_BUFFER_H
#define DB_CLI_IMAGE_BUFFER_H

#include <dualbragg/plan.h>

/* An image of the panel to be rendered into, 0 outside the region; free() it. NULL without memory.
 * In huge pages where the system has them: first touch of small ones takes longer than rendering.
 */
float *db_image_buffer(const db_panel *panel, const db_region *region);

#endif
