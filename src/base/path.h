/* Parts of file names. */
#ifndef DB_BASE_PATH_H
#define DB_BASE_PATH_H

#include <dualbragg/status.h>
#include <stddef.h>
#include <string.h>

/* Length of a path including its last slash; 0 without one. */
static inline size_t db_folder_length(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Part behind the last slash. */
static inline const char *db_file_name(const char *path) { return path + db_folder_length(path); }

/* `name` relative to the folder of the file `beside`; absolute names are unchanged. To be freed; NULL without
 * memory. */
DB_API char *db_path_beside(const char *beside, const char *name);

/* The path from the root of a file, or of an image of many in a file, FILE#N or FILE#EVENT, which keeps what stands
 * from # on, but for zeros ahead of its numbers. To be freed; NULL: there is no such file, or no memory. */
DB_API char *db_whole_path(const char *name);

#endif
