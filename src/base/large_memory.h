/* Memory for whole images. */
#ifndef DB_BASE_LARGE_MEMORY_H
#define DB_BASE_LARGE_MEMORY_H

#include <dualbragg/status.h>
#include <stddef.h>

/* As malloc, to be freed by free. Large memory is in large pages, if the system has them: mapping small ones would
 * take most of the time of a large image. */
DB_API void *db_allocate_large(size_t size);

#endif
