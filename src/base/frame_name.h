/* Names of images in files that hold many: FILE#N, counted from 1. */
#ifndef DB_BASE_FRAME_NAME_H
#define DB_BASE_FRAME_NAME_H

#include <dualbragg/status.h>
#include <stddef.h>

/* The file of a name, cut to the room, and the number behind the last #; 0: the name is that of a
 * file. A file that has # and digits in its own name goes first. */
DB_API long db_frame_split(const char *name, char *file, size_t size);

#endif
