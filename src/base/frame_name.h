/* Names of images in files that hold many: FILE#N, counted from 1. */
#ifndef DB_BASE_FRAME_NAME_H
#define DB_BASE_FRAME_NAME_H

#include <dualbragg/status.h>
#include <stddef.h>

/* Splits FILE#N: the file's name, cut to the room, and the number behind the last #; 0: the name is a file. A file
 * with # and digits in its own name has precedence. */
DB_API long db_frame_split(const char *name, char *file, size_t size);

#endif
