/* dualbragg import: contents of files. */
#ifndef DB_CLI_IMPORT_H
#define DB_CLI_IMPORT_H

#include <dualbragg/dualbragg.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/file_kind.h>

#include <stdio.h>

enum {
    DB_FACT_NUMBERS = 9,
    DB_MOST_FACTS = 40,
    DB_FACT_TEXT = 400,
    DB_FAILURE_TEXT = 800,
    DB_MOST_NOTICES = 12
};

/* A fact about a file. Programs get the numbers or, without any, the text; people get the text. */
typedef struct db_fact {
    char key[24]; /* "beam_centre" */
    int count;
    double number[DB_FACT_NUMBERS]; /* NAN: null */
    char text[DB_FACT_TEXT];
} db_fact;

/* Missing facts of an experiment's detector and beam. */
enum {
    DB_LACKS_WAVELENGTH = 1,
    DB_LACKS_DISTANCE = 2,
    DB_LACKS_PIXEL_SIZE = 4,
    DB_LACKS_BEAM_CENTRE = 8,
    DB_LACKS_PANELS = 16 /* places of several panels */
};

typedef struct db_imported {
    const char *path; /* as given; borrowed */
    db_file_kind kind;
    unsigned found;                /* bits of DB_HOLDS_*: the real contents */
    size_t count;                  /* number of images or experiments */
    db_status status;              /* other than DB_OK: the file could not be read */
    char failure[DB_FAILURE_TEXT]; /* why */
    char name[4096];               /* name of the reported image: FILE#1; "" */
    unsigned lacks;                /* of DB_LACKS_* */
    int placed;                    /* 1: experiment and content are filled */
    db_experiment experiment;
    db_expt_content content;
    double
        turned; /* degree: how far the spindle has turned the crystal, in the middle of the image */
    /* for comparison; NAN, 0, "" */
    double wavelength, distance, pixel_size;
    int shape[2]; /* shape of the image */
    size_t panels;
    double matrix[9];      /* wavelength times A*, of a matrix file */
    double trusted[2];     /* of an image, counts, pedestal subtracted; both 0: not read */
    double pedestal, gain; /* of an image; 0, 1 */
    double cell[6];        /* of crystal or amplitudes */
    char group[96];        /* space group */
    size_t most_panel;     /* number of the last panel on which there are spots */
    size_t fact_count;
    db_fact fact[DB_MOST_FACTS];
    /* contents that are doubtful or not used */
    size_t notice_count;
    char notice[DB_MOST_NOTICES][DB_FACT_TEXT];
} db_imported;

/* Cell for experiments without a crystal, which must have one. */
extern const double db_any_cell[6];

/* Adds a fact; format and what follows: its text. */
void db_imported_add(db_imported *file, const char *key, int count, const double *number,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Reads all facts of a file. For lists: of the experiment that shows the image (may be NULL), else of the first. A
 * failure belongs to the file: file->status. Clear the file in any case. */
void db_imported_read(db_context *context, const char *path, const char *image, db_imported *file);
void db_imported_clear(db_imported *file);

/* Adds facts about detector, beam and rotation of an experiment, and about its crystal if there is one. */
void db_imported_add_experiment(db_context *context, db_imported *file);

/* Whether the content of a file with an experiment tells the thickness of a sensor. */
int db_imported_has_sensor(const db_imported *file);

void db_imported_add_cell(db_imported *file, const double cell[6]);

/* Adds facts about structure factors of any kind of file. */
db_status db_imported_amplitudes(db_context *context, db_imported *file);

/* Tries an orientation, lattice vectors A* (1/A) at spindle angle 0, on the spots of an image: 0 if they are at
 * its nodes as seldom as by chance. spots: numbers of tried spots, and of those at nodes; both 0: it could not be
 * tried. */
int db_imported_try_orientation(db_context *context, const char *image, const db_imported *geometry,
                                const double a_star[9], size_t spots[2]);

/* What a list says of each panel besides its place: what the file with the geometry says or, where that says
 * nothing, the image (NULL: there is none). Masks are borrowed. To be freed; NULL without memory. */
db_expt_panel *db_imported_panels(const db_imported *geometry, const db_imported *image);

/* What the file with the geometry says of pixels, and lists written do not hold; 0: nothing. */
enum { DB_LEFT_OUT_TEXT = 300 };
int db_imported_left_out(const db_imported *geometry, char text[DB_LEFT_OUT_TEXT]);

/* Facts of several files together; members are numbers in the list, -1: none. */
enum { DB_MOST_CONFLICTS = 32 };
typedef struct db_import_summary {
    int image, geometry, crystal, amplitudes, spots;
    int several;   /* 1: the list does not tell which experiment belongs to the image */
    int other_way; /* 1: the orientation is not that of the crystal on the image */
    size_t conflict_count;
    char conflict[DB_MOST_CONFLICTS][DB_FACT_TEXT];
    char sim[DB_FACT_TEXT], fit[DB_FACT_TEXT]; /* missing facts, with flags; "" */
    char next[3 * 4096];                       /* next command line; "" */
} db_import_summary;

void db_import_sum_up(db_context *context, db_imported *files, size_t count,
                      db_import_summary *summary);

/* Prints the result for people, and for programs. */
void db_import_print(const db_imported *files, size_t count, const db_import_summary *summary);
db_status db_import_write_json(db_context *context, const char *path, const db_imported *files,
                               size_t count, const db_import_summary *summary);

#endif
