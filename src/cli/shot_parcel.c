#include "cli/shot_parcel.h"

#include "cli/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_shot_lend(const db_experiment *base, db_experiment *experiment) {
    const double water = experiment->background.water_size;
    experiment->structure_factors = base->structure_factors;
    experiment->background = base->background;
    experiment->background.water_size = water;
    if (base->spread.spots == DB_SPOTS_CLOSED) experiment->oversample = base->oversample;
}

void db_shot_clear(db_shot *s) {
    s->experiment.structure_factors.amplitude = NULL;
    s->experiment.structure_factors.sites = NULL;
    s->experiment.background.stol = s->experiment.background.amplitude = NULL;
    db_experiment_clear(&s->experiment);
    db_predicted_spots_clear(&s->spots);
    for (int i = 0; i < DB_SHOT_OUTPUTS; i++) db_packed_clear(&s->packed[i]);
    for (int i = 0; i < DB_SHOT_FILES; i++) free(s->owned[i]);
    memset(s->owned, 0, sizeof s->owned);
}

/* Memory of a shot, and its size. */
typedef struct piece {
    void **start;
    size_t size;
} piece;

enum { PIECES = 2 + DB_SHOT_OUTPUTS };

static void list_pieces(db_shot *s, piece p[PIECES]) {
    p[0] = (piece){ (void **)&s->experiment.beam.sources,
                    s->experiment.beam.source_count * sizeof *s->experiment.beam.sources };
    p[1] = (piece){ (void **)&s->spots.spot, s->spots.count * sizeof *s->spots.spot };
    for (int i = 0; i < DB_SHOT_OUTPUTS; i++)
        p[2 + i] = (piece){ (void **)&s->packed[i].bytes, s->packed[i].size };
}

int db_shot_send(const db_shot *shot) {
    db_shot copy = *shot; /* its pointers are not valid elsewhere, sizes are */
    piece part[PIECES];
    size_t size = sizeof copy;
    list_pieces(&copy, part);
    for (int i = 0; i < PIECES; i++) size += part[i].size;
    char *const bytes = malloc(size);
    if (!bytes) return 0;
    memcpy(bytes, &copy, sizeof copy);
    size_t at = sizeof copy;
    for (int i = 0; i < PIECES; i++) {
        if (part[i].size) memcpy(bytes + at, *part[i].start, part[i].size);
        at += part[i].size;
    }
    const int sent = db_processes_send(0, bytes, size);
    free(bytes);
    return sent;
}

static int unpack_parcel(const char *bytes, size_t size, const db_experiment *base, db_shot *s) {
    piece part[PIECES];
    size_t at = sizeof *s;
    if (size < sizeof *s) return 0;
    memcpy(s, bytes, sizeof *s);
    memset(s->owned, 0, sizeof s->owned);
    s->experiment.detector.panels = NULL;
    list_pieces(s, part);
    int whole = 1;
    for (int i = 0; i < PIECES; i++) {
        whole = whole && part[i].size <= size - at;
        *part[i].start = whole && part[i].size ? malloc(part[i].size) : NULL;
        whole = whole && (*part[i].start || !part[i].size);
        if (!whole || !part[i].size) continue;
        memcpy(*part[i].start, bytes + at, part[i].size);
        at += part[i].size;
    }
    const size_t panels = base->detector.panel_count * sizeof *base->detector.panels;
    if (whole && s->status == DB_OK) {
        s->experiment.detector.panels = malloc(panels);
        whole = s->experiment.detector.panels != NULL;
        if (whole) memcpy(s->experiment.detector.panels, base->detector.panels, panels);
    }
    db_shot_lend(base, &s->experiment);
    return whole;
}

void db_shot_receive(int from, const db_experiment *base, db_shot *s) {
    void *bytes = NULL;
    size_t size = 0;
    memset(s, 0, sizeof *s);
    const int got =
        db_processes_receive(from, &bytes, &size) && unpack_parcel(bytes, size, base, s);
    free(bytes);
    if (got) return;
    s->status = DB_ERROR_DEVICE;
    snprintf(s->reason, sizeof s->reason, "the shots of process %d did not arrive", from);
}
