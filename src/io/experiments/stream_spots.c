/* Peaks of a stream: where CrystFEL saw spots on an image. */
#include "io/experiments/stream_file.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows are gathered, and become columns at the end. */
typedef struct peak {
    double at[2];
    size_t panel;
} peak;

typedef struct peaks {
    size_t count, room;
    peak *peak; /* owned */
} peaks;

static int chunk_holds(const db_layout_panel *panel, const double at[2]) {
    int within = 1;
    for (int i = 0; i < 2; i++)
        within &= at[i] >= panel->first[i] && at[i] <= panel->first[i] + panel->size[i];
    return within;
}

/* Places count through the array of the panel's file; old streams do not name the panel. */
static db_status find_panel(const db_stream *s, const db_image_layout *layout, db_word name,
                            peak *p) {
    for (p->panel = 0; p->panel < layout->panel_count; p->panel++) {
        const db_layout_panel *const panel = &layout->panel[p->panel];
        const int named = strlen(panel->name) == name.length &&
                          strncmp(panel->name, name.start, name.length) == 0;
        if (name.length && !named) continue;
        const int within = chunk_holds(panel, p->at);
        if (name.length && !within) return db_stream_fail(s, "a place on its panel");
        if (!within) continue;
        for (int i = 0; i < 2; i++) p->at[i] -= panel->first[i];
        return DB_OK;
    }
    return db_stream_fail(s, name.length ? "the name of a panel of the geometry"
                                         : "a place on a panel of the geometry");
}

static db_status read_peak(const db_stream *s, const db_image_layout *layout, peak *p) {
    const char *at = s->line;
    double value[4];
    for (int i = 0; i < 4; i++)
        if (!db_word_number(db_next_word(&at, DB_WHITE_SPACE), &value[i]))
            return db_stream_fail(s, "fs, ss, 1/d, intensity and the name of a panel");
    for (int i = 0; i < 2; i++) p->at[i] = value[i];
    if (!isfinite(p->at[0]) || !isfinite(p->at[1])) return db_stream_fail(s, "finite places");
    return find_panel(s, layout, db_next_word(&at, DB_WHITE_SPACE), p);
}

/* Reads the list of peaks from its title to its end. */
static db_status read_list(db_stream *s, const db_image_layout *layout, peaks *list) {
    if (!db_stream_behind(s, "Peaks from peak search")) return DB_OK; /* there is none */
    (void)db_stream_next_line(s);                                     /* titles of columns */
    while (db_stream_next_line(s)) {
        if (db_stream_behind(s, "End of peak list")) return DB_OK;
        DB_GROW(s->context, list->peak, list->room, list->count + 1, "the peaks of an image");
        DB_TRY(read_peak(s, layout, &list->peak[list->count]));
        list->count++;
    }
    return db_stream_fail(s, "the end of the list of peaks");
}

static db_status fill_spots(db_context *context, const char *path, const peaks *list,
                            db_reflection_table *table) {
    *table = (db_reflection_table){ .count = list->count };
    table->position = malloc((list->count + 1) * sizeof *table->position);
    table->panel = malloc((list->count + 1) * sizeof *table->panel);
    if (!table->position || !table->panel) {
        db_reflection_table_clear(table);
        return db_fail_memory(context, path);
    }
    for (size_t i = 0; i < list->count; i++) {
        memcpy(table->position[i], list->peak[i].at, sizeof list->peak[i].at);
        table->position[i][2] = 0;
        table->panel[i] = list->peak[i].panel;
    }
    return DB_OK;
}

/* Reads the peaks of a chunk; the stream's geometry names the panels. */
static db_status read_peaks(db_stream *s, const db_stream_chunk *chunk, peaks *list) {
    db_stream_crystal c;
    db_geom geom;
    DB_TRY(db_stream_geometry(s));
    char *const text = s->geometry;
    s->geometry = NULL;
    db_status status = db_geom_parse(s->context, s->path, text, s->geometry_line, &geom);
    if (status == DB_OK) status = db_stream_read_chunk(s, chunk, -1, &c);
    if (status == DB_OK) status = read_list(s, geom.layout, list);
    db_geom_clear(&geom);
    return status;
}

db_status db_read_stream_spots(db_context *context, const char *path,
                               const db_expt_selection *selection, db_reflection_table *table) {
    const db_stream_index *index;
    const db_stream_chunk *chunk = NULL;
    db_stream s;
    peaks list = { .count = 0 };
    *table = (db_reflection_table){ .count = 0 };
    DB_TRY(db_stream_index_of(context, path, &index));
    db_status status = db_stream_select_chunk(context, path, index, selection, &chunk);
    if (status == DB_OK) status = db_stream_open(context, path, &s);
    if (status == DB_OK) {
        status = read_peaks(&s, chunk, &list);
        db_stream_close(&s);
    }
    if (status == DB_OK) status = fill_spots(context, path, &list, table);
    free(list.peak);
    db_stream_index_give_back(index);
    return status;
}
