/* Streams of CrystFEL: a geometry, then chunks, one for each image, with the crystals found on it. */
#include "io/experiments/stream_file.h"

#include "base/context_internal.h"
#include "base/vector.h"

#include <stdlib.h>

static db_status set_crystal(const db_stream *s, db_stream_crystal *c, db_experiment *experiment,
                             db_expt_content *content) {
    double a_star[9];
    for (int i = 0; i < 3; i++) db_geom_turn(c->reciprocal + 3 * i);
    for (int i = 0; i < 9; i++) c->reciprocal[i] *= 0.1; /* 1/A */
    db_transpose(c->reciprocal, a_star);
    if (db_crystal_set_matrix(NULL, &experiment->crystal, a_star) != DB_OK)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s: crystal %ld: expected a right-handed basis astar, bstar, cstar",
                       s->path, c->number);
    content->has_crystal = 1;
    content->number = c->number;
    return DB_OK;
}

static db_status read_chunk(db_stream *s, const db_expt_selection *selection,
                            const db_stream_index *index, db_stream_crystal *c) {
    const db_stream_chunk *chunk;
    long number;
    DB_TRY(db_stream_select(s->context, s->path, index, selection, &chunk, &number));
    return db_stream_read_chunk(s, chunk, number, c);
}

static db_status read_stream(db_stream *s, const db_expt_selection *selection,
                             const db_stream_index *index, db_experiment *experiment,
                             db_expt_content *content) {
    db_stream_crystal c;
    db_geom geom;
    DB_TRY(db_stream_geometry(s));
    DB_TRY(read_chunk(s, selection, index, &c));
    char *const text = s->geometry;
    s->geometry = NULL;
    db_status status = db_geom_parse(s->context, s->path, text, s->geometry_line, &geom);
    c.image.name = selection->image;
    if (status == DB_OK) status = db_geom_experiment(&geom, &c.image, experiment, content);
    db_geom_clear(&geom);
    content->number = -1;
    return status == DB_OK && c.axes ? set_crystal(s, &c, experiment, content) : status;
}

db_status db_stream_read(db_context *context, const char *path, const db_expt_selection *selection,
                         db_experiment *experiment, db_expt_content *content) {
    const db_stream_index *index;
    db_stream s;
    DB_TRY(db_stream_index_of(context, path, &index));
    db_status status = db_stream_open(context, path, &s);
    if (status == DB_OK) {
        status = read_stream(&s, selection, index, experiment, content);
        db_stream_close(&s);
    }
    db_stream_index_give_back(index);
    return status;
}
