/* Names of numbered images, as dxtbx understands them: image_0001.img -> image_####.img, 1. */
#ifndef DB_IO_IMAGE_TEMPLATE_H
#define DB_IO_IMAGE_TEMPLATE_H

#include <dualbragg/context.h>

typedef struct db_image_template {
    char *text; /* the path with a '#' for each digit of the number; owned */
    int number;
    int numbered; /* 0: the name has no number, text is the path and number 1 */
} db_image_template;

/* The number is an extension of at least two digits, else the digits right before the extension;
 * more than nine digits are none. Free text. */
db_status db_image_template_of(db_context *context, const char *path, db_image_template *made);

#endif
