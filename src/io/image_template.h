/* Names of numbered images, as DIALS writes them: image_0001.img -> image_####.img, number 1. */
#ifndef DB_IO_IMAGE_TEMPLATE_H
#define DB_IO_IMAGE_TEMPLATE_H

#include <dualbragg/context.h>

typedef struct db_image_template {
    char *text; /* a '#' for each digit of the number; the path itself if it has none; owned */
    int number; /* 1 if there is none */
} db_image_template;

/* The number is the last run of digits of the file's name before its extension, else of the
 * extension; runs of more than nine digits are none. Free text. */
db_status db_image_template_of(db_context *context, const char *path, db_image_template *made);

#endif
