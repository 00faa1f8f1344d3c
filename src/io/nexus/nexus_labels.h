/* The labels of simulated images in an NXmx file: group /entry/shots (docs/howto/training-sets.md). */
#ifndef DB_IO_NEXUS_LABELS_H
#define DB_IO_NEXUS_LABELS_H

#include "io/nexus/nexus_write.h"

#include <dualbragg/spots.h>

#include <stdint.h>

typedef struct db_shot_label {
    int64_t number;                  /* of the shot, from 1 */
    const db_predicted_spots *spots; /* NULL: none */
    double misset[3];                /* degree, of the whole orientation */
    double photons;                  /* sum of the expected image */
    uint32_t noise_seed;
    double flicker; /* factor of the noisy image's intensity; 1 */
} db_shot_label;

typedef struct db_nexus_labels db_nexus_labels;

/* Begins the labels of a file. with_spots: 1: labels have lists of spots. */
db_status db_nexus_labels_create(db_nexus_writer *writer, int with_spots, db_nexus_labels **labels);

/* Appends the labels of the last image. */
db_status db_nexus_labels_append(db_nexus_labels *labels, const db_experiment *experiment,
                                 const db_shot_label *label);

/* The columns stay in the file. */
void db_nexus_labels_destroy(db_nexus_labels **labels);

#endif
