/* Geometry files of CrystFEL (.geom): the places of panels, and of their pixels in files. */
#ifndef DB_IO_GEOM_H
#define DB_IO_GEOM_H

#include "base/file_content.h"
#include "base/name_table.h"
#include "io/images/image_layout.h"
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/listed_shots.h>

/* Recognition by the beginning of a text. */
int db_is_geom(const char *text);

/* A panel without the place of its pixels. Texts are parts of the layout's. */
typedef struct db_geom_panel {
    double fast[3], slow[3]; /* steps of a pixel (pixels of res) */
    double corner[2];        /* x, y (pixels of res) */
    double coffset;          /* m, added to clen */
    double res;              /* pixels per metre */
    const char *clen;        /* number or path, with unit */
    double adu_per_photon, adu_per_ev, max_adu, least, most;
    int no_index;
    int edge;    /* pixels at each side that are bad */
    size_t line; /* where it is first named */
} db_geom_panel;

/* Names of panels or of other groups, with commas between. */
enum { DB_GEOM_GROUP, DB_GEOM_RIGID, DB_GEOM_COLLECTION, DB_GEOM_GROUP_KINDS };
typedef struct db_geom_group {
    const char *name;
    const char *members;
    size_t line;
    int kind;
} db_geom_group;

typedef struct db_geom_bad {
    const char *name;
    const char *panel;   /* NULL: not said */
    size_t panel_number; /* of a region by fs and ss, once all lines are read */
    double range[4];     /* min and max of fs, min and max of ss, both inclusive; or of x and y */
    int kind;            /* 0: unknown, 1: fs and ss, 2: x and y */
    size_t line;
} db_geom_bad;

typedef struct db_geom {
    db_context *context;
    db_image_layout *layout; /* owned, until an experiment takes it */
    db_geom_panel *panel;    /* [layout->panel_count]; owned */
    size_t panel_room, layout_room;
    db_geom_bad *bad; /* owned */
    size_t bad_count, bad_room;
    db_geom_group *group; /* owned */
    size_t group_count, group_room;
    /* their numbers; of several groups of one name and kind the last one */
    db_name_table panels, regions, groups[DB_GEOM_GROUP_KINDS];
    const char *wavelength, *wavelength_key; /* the last one of three; NULL: none */
    const char *shift[2];                    /* x, y; NULL: none */
    /* keys that are not used, each once, and the first of them with their lines */
    db_name_table unused;
    char unused_text[200];
} db_geom;

/* Parses a text, which the layout owns afterwards, also after a failure. path and first_line are for messages.
 * Clear geom in any case. */
db_status db_geom_parse(db_context *context, const char *path, char *text, size_t first_line,
                        db_geom *geom);
void db_geom_clear(db_geom *geom);

/* Parses a file. Owns nothing after a failure. */
db_status db_geom_open(db_context *context, const char *path, db_geom *geom);

/* The levels of groups that hold each panel: level 0 is the whole detector. */
db_status db_geom_groups(const db_geom *geom, db_expt_content *content);

/* Values that a stream gives for an image, in place of those of its file. NAN: none. */
typedef struct db_geom_image {
    const char *name;     /* FILE, FILE#N or FILE#EVENT; NULL: none */
    double photon_energy; /* eV */
    double camera_length; /* m: mean z of the panels */
    double shift[2];      /* m: x and y of the detector, added to the geometry's */
} db_geom_image;

/* The place of a panel for an image, in the frame of CrystFEL (z along the beam, y up); mm. */
typedef struct db_geom_place {
    double origin[3], fast[3], slow[3]; /* outer corner of the first pixel, steps of a pixel */
    double clen;                        /* of origin[2], the part without coffset */
} db_geom_place;

db_status db_geom_place_panel(const db_geom *geom, const db_geom_image *image, size_t panel,
                              db_geom_place *place);

/* Beam, detector and layout of an experiment. Takes the layout. */
db_status db_geom_experiment(db_geom *geom, const db_geom_image *image, db_experiment *experiment,
                             db_expt_content *content);

/* db_read_expt of such a file. */
db_status db_geom_read(db_context *context, const char *path, const db_expt_selection *selection,
                       db_experiment *experiment, db_expt_content *content);

/* Writes a geometry with the panels of an experiment, from the file `source`. */
db_status db_geom_write(db_context *context, const char *path, const char *source,
                        const db_expt_selection *selection, const db_experiment *experiment);

/* db_read_expt of a stream: each crystal is an experiment, in their order. */
db_status db_stream_count(db_context *context, const char *path, size_t *count);
db_status db_stream_read(db_context *context, const char *path, const db_expt_selection *selection,
                         db_experiment *experiment, db_expt_content *content);

/* db_list_shots of a stream, into an empty list. */
db_status db_stream_shots(db_context *context, const char *path, db_listed_shots *shots);

/* Turns a vector from CrystFEL's frame into that of experiment lists, or back: by 180 degree about y. */
static inline void db_geom_turn(double v[3]) {
    v[0] = -v[0];
    v[2] = -v[2];
}

#endif
