/* A run of a command: flags read, context and experiment made, pixels chosen. */
#ifndef DB_CLI_SESSION_H
#define DB_CLI_SESSION_H

#include "cli/command.h"
#include "cli/notices.h"
#include "cli/settings.h"
#include "io/nexus/nexus_write.h"

typedef struct db_session {
    db_arguments given;
    db_settings settings;
    db_context *context;
    db_experiment experiment;
    db_panel sheet;      /* shape of an image: of the panel, or of all panels one below the other */
    db_region region;    /* region of interest in an image of the whole sheet */
    unsigned char *mask; /* 0: pixel to leave out; of the panel's shape; NULL: none */
    const db_region *regions; /* rendered regions: the region of interest, or with a mask ... */
    size_t region_count;
    db_region *mask_regions;    /* ... these; owned */
    struct db_profile *profile; /* NULL: no profile */
    db_notices notices;         /* automatic choices and warnings to print */
    int finished;               /* 1: help or a table was printed: nothing left to do */
} db_session;

/* Reads the flags and prepares everything; reports errors itself. Close it after a failure, too. */
db_status db_session_open(db_session *session, const db_command *command, int argc, char **argv);

/* Takes values of the image of -img and the list of -expt, below the given flags. */
db_status db_session_take_headers(db_session *session);

/* Frees everything, and writes the profile of a run that ended with `status`. Returns `status`, or the failure to
 * write. */
db_status db_session_close(db_session *session, db_status status);

/* Opens a session, lets it work unless it is finished, and closes it. Returns the exit status. */
int db_session_run(const db_command *command, int argc, char **argv,
                   db_status (*work)(db_session *session));

/* Reports a failure of a library call with the session's context; returns the status. */
db_status db_session_complain(const db_session *session, db_status status);

/* "double precision, avx512, 2 threads" or "mixed precision, cuda:0, NVIDIA H100", for the line with the time.
 * device: of the plan. */
const char *db_session_manner(const db_session *session, const char *device);

/* Says why --device auto has chosen the processor, if it has. */
void db_session_note_device(const db_session *session);

/* Sets the precision in the options of a plan: the user's choice, or the library's, which is printed. */
db_status db_session_choose_precision(db_session *session, db_plan_options *options);

/* Renders an image and, unless derivatives is NULL, derivatives by `count` parameters, with progress; prints the
 * time. Reports failures itself. */
db_status db_session_render(db_session *session, const db_parameter *parameters, size_t count,
                            float *image, void *const *derivatives);

/* Mean wavelength (A) of each pixel's photons, in the precision of the rendered image. */
db_status db_session_mean_wavelength(db_session *session, float *image);

/* Sets pixels outside the mask to 0, inside the region of interest and outside. */
void db_session_apply_mask(const db_session *session, float *image);

/* Limits of -roi within an image of this size, with a remark if they reach beyond it; the first one is -1 without -roi. */
db_status db_settings_roi(const db_settings *settings, const int size[2], int roi[4]);

/* The region of interest; NULL: all pixels. */
const db_region *db_session_part(const db_session *session);

/* Format of a file of the session's photons. */
db_nexus_format db_photon_format(const db_session *session);

/* Range of the spindle (degree): the given one, or the chosen one (docs/theory/crystal.md, Spindle steps). */
double db_session_sweep(const db_session *session);

/* The experiment for headers of SMV images; it borrows the lists. With -compat its steps add up to the range. */
db_experiment db_session_header_experiment(const db_session *session);

/* Convention in SMV images of the session. */
db_smv_style db_session_smv_style(const db_session *session);

#endif
