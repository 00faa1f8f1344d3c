/* Lists of shots grow, and are freed. */
#include "io/format_readers.h"

#include <stdlib.h>

int db_listed_shots_add(db_listed_shots *shots, long number, char *image) {
    if (image && (shots->count & (shots->count - 1)) == 0) { /* room doubles */
        const size_t room = shots->count ? 2 * shots->count : 1;
        db_listed_shot *const grown = realloc(shots->shot, room * sizeof *grown);
        if (!grown) free(image);
        if (!grown) return 0;
        shots->shot = grown;
    }
    if (image) shots->shot[shots->count++] = (db_listed_shot){ number, image };
    return image != NULL;
}

void db_listed_shots_clear(db_listed_shots *shots) {
    for (size_t i = 0; i < shots->count; i++) free(shots->shot[i].image);
    free(shots->shot);
    *shots = (db_listed_shots){ .count = 0 };
}
