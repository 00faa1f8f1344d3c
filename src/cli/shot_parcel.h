/* A rendered shot on its way to the files, perhaps from another process. */
#ifndef DB_CLI_SHOT_PARCEL_H
#define DB_CLI_SHOT_PARCEL_H

#include "base/context_internal.h"
#include "io/nexus/nexus_labels.h"

enum { DB_SHOT_PHOTONS, DB_SHOT_NOISY, DB_SHOT_WAVELENGTHS, DB_SHOT_OUTPUTS, DB_SHOT_FILES = 2 };

typedef struct db_shot {
    size_t number; /* from 0 */
    db_status status;
    char reason[DB_MESSAGE_SIZE / 2]; /* of a failure */
    /* structure factors and background are lent by `base` */
    db_experiment experiment;
    db_predicted_spots spots;
    db_packed packed[DB_SHOT_OUTPUTS];
    db_shot_label label;
    char *owned[DB_SHOT_FILES]; /* names of files; NULL */
} db_shot;

/* Lends the large lists of an experiment that all shots share. */
void db_shot_lend(const db_experiment *base, db_experiment *experiment);

void db_shot_clear(db_shot *shot);

/* Sends a shot to process 0; 0: failure. */
int db_shot_send(const db_shot *shot);

/* Receives a shot from another process of the same program; after a failure shot->status says so. */
void db_shot_receive(int from, const db_experiment *base, db_shot *shot);

#endif
