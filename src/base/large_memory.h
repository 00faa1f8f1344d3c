/* Memory for whole images. */
#ifndef DB_BASE_LARGE_MEMORY_H
#define DB_BASE_LARGE_MEMORY_H

#include <dualbragg/status.h>
#include <stddef.h>

/* As malloc, to be freed by free. Large ones in large pages, where the system has them: most of
 * the time that a large image takes would be spent on mapping small ones. */
DB_API void *db_allocate_large(size_t size);

#endif
