/* How dxtbx sees images: the frame that it gives simulated ones (db_dials_frame), and their names. */
#ifndef DB_IO_DXTBX_H
#define DB_IO_DXTBX_H

#include <dualbragg/io.h>

/* Turns a vector about a unit axis (degree, right-handed). */
void db_turn_by_degrees(const double axis[3], double angle, double vector[3]);

/* The name of a numbered image: image_0001.img is image_####.img, 1. */
typedef struct db_image_template {
    char *text; /* the path with a '#' for each digit of the number; owned */
    int number;
    int numbered; /* 0: the name has no number, text is the path and number 1 */
    int in_file;  /* 1: image of that number in the file `text` */
} db_image_template;

/* The number is an extension of at least two digits, else the digits right before the extension;
 * more than nine digits are none. Free text. */
db_status db_image_template_of(db_context *context, const char *path, db_image_template *made);

#endif
