/* All shots of a refinement, and what every part of it works on. */
#ifndef DB_FIT_SHOTS_SHOTS_H
#define DB_FIT_SHOTS_SHOTS_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/search/refinement.h"
#include "fit/linear/schur.h"
#include "fit/shots/store.h"
#include "fit/config/quantity.h"

#include "base/shot_notices.h"

#include <dualbragg/fit_shots.h>

#include <string.h>

/* A shot at some values of the shared quantities, in a joint stage. */
typedef struct db_shot_point {
    double *local;      /* values of its local quantities */
    db_schur_tail tail; /* how they change with the shared ones */
} db_shot_point;

/* Where the store has the moments of a shot's spots. */
typedef struct db_shot_moments {
    long long spots, observed;
    size_t count;
    double blur;
} db_shot_moments;

/* Reflections that a shot shows. */
typedef struct db_shown {
    size_t count;
    int (*hkl)[3];
} db_shown;

/* The state of a shot that only the process which works on it has; its summary goes to rank 0. */
typedef struct db_shot_state {
    db_experiment start; /* as read, with the shared values of the start; owned; without amplitudes
                            that all shots have */
    double gain, readout_noise;
    int choose_oversample; /* as in db_fit_settings */
    int is_dim; /* 1: a frame of a series with so few photons beside its spots that a shoebox tells of no plane */
    int shoebox_half_width;    /* pixels; 0: not settled yet */
    const db_fit_spots *spots; /* see db_fit_settings; belongs to the source */
    double *lower;             /* [parameters] bounds */
    double *upper;
    db_store_place place;
    db_shot_moments moments;    /* in place of it, in a joint stage of moments */
    long long light;            /* in the store: of the other lattices of its image; -1: none */
    long long record;           /* in the store: its equations of joint intensities; -1: none */
    long long linearization[2]; /* in the store: of its boxes, where it was rendered; -1: none */
    db_shot_point best, trial;
    struct db_linked_start *begin; /* [linked variables] of a joint stage (fit/shots/links.h); lies
                                      behind best.local */
    double degrees;                /* of freedom, with an intensity of each box */
    db_shown boxes, shown; /* of a series: reflections of the boxes of this joint stage, and those
                              that the frame shows; owned */
    db_shown shown_before; /* those that it has shown to the joint stage before; owned */
    int needed;            /* 1: the stage in which the run goes on began with it */
    int reported;          /* 1: the caller knows that it was excluded */
    int begun;             /* 1: this process works on it */
    db_status excluded_by; /* where this process has excluded it: the failure */
} db_shot_state;

typedef enum db_wrongness {
    DB_SHOT_RIGHT,
    DB_SHOT_WRONG,
    DB_FRAME_UNDECIDED /* of a series: its few spots do not bear the model out alone */
} db_wrongness;

/* By how much a model misses the light of a frame's spots more than half as much as a rival does, in squares of errors, and
 * the variance of that by noise. */
typedef struct db_light_margin {
    double excess, variance;
} db_light_margin;

/* Light of a frame of a series, in the boxes of all reflections that the series shows there (fit/shots/series_light.c):
 * squares of errors off the model, and off no light, without those of noise; margins beside a model without spots, and
 * beside spots as bright on all frames that show them; spots with strong pixels, and of these those as bright in the model. */
typedef struct db_frame_light {
    double missed, all;
    db_light_margin none, even;
    size_t spots, alike;
} db_frame_light;

/* Results of a shot, beside its values (db_shots_values), in its process and in rank 0. */
typedef struct db_shot_summary {
    int used; /* 0: excluded */
    int wrong; /* used, but what has been found contradicts its spots, or a bound holds it: reason; db_wrongness */
    size_t judged; /* spots that it was judged by */
    double margin
        [3]; /* ln of how much likelier they are with the model than anywhere, along rows, with a smaller cell */
    int stage;  /* the next one that it has to do; joint ones count when all have done them */
    int opened; /* 1 + the joint stage for which its values are ready; 0: none */
    char reason[DB_FIT_REASON_SIZE];
    double orientation[9];
    double reference[9];           /* orientation that the angles of the result count from */
    db_fit_shot_identity identity; /* empty: not known */
    size_t pixels, shoeboxes;
    double degrees; /* of freedom, without shared quantities */
    double chi2[2], correlation[2], centroid_rms[2];
    db_frame_light light; /* of a series, at its end; 0: not known */
    double target;        /* per degree of freedom, where a joint stage left it; 0: not known */
    int lit; /* 2 + the joint stage of the segment (see joint_stages.h) of which lattices of its image
                got each other's light; 0: none */
    double lit_orientation
        [9]; /* of the model by which it gave light there; its values are db_shot_values.lit */
} db_shot_summary;

/* Of the parameters that all shots share. */
typedef struct db_common_values {
    double value[DB_FIT_MOST_PARAMETERS], start[DB_FIT_MOST_PARAMETERS];
    int at_bound[DB_FIT_MOST_PARAMETERS]; /* -1, 0, 1 */
} db_common_values;

/* Threads that work on shots, each with a context of its own (workers.h). */
typedef struct db_workers {
    int count;
    db_context **context;
} db_workers;

typedef struct db_shares db_shares;
typedef struct db_checkpoint db_checkpoint;
typedef struct db_series db_series;

typedef struct db_shots {
    db_context *context;
    const db_fit_shot_source *source;
    const db_fit_shots_options *options;
    db_fit_team team;
    db_fit_settings settings; /* with stages */
    size_t parameters;        /* of the settings */
    unsigned char shared[DB_FIT_MOST_PARAMETERS];
    unsigned char varies[DB_FIT_MOST_PARAMETERS]; /* 1: along a series, linearly between knots */
    size_t count;
    db_series *series;    /* intensities of a series, in a joint stage; else NULL */
    size_t *image;        /* [count]: the first shot with the same image; NULL: each has its own */
    db_shot_state *state; /* [count] */
    db_shot_summary *summary; /* [count] */
    double *numbers;          /* of the shots' parameters: db_shots_values */
    db_common_values common;
    size_t chunk;      /* shots in a row whose sums are taken as one */
    db_shares *shares; /* which process works on which */
    size_t used;       /* shots in use, of all processes, when these met last */
    double degrees;    /* of freedom of these */
    db_workers workers;
    db_structure_factors amplitudes; /* of all shots, if they are known; owned */
    db_asu_list reflections; /* whose intensities all shots share; empty: they do not; owned */
    double *reference; /* [reflections] known intensities, NAN where there is none; NULL; owned */
    db_store store;
    size_t evaluations;        /* of single shots */
    db_checkpoint *checkpoint; /* NULL: none is kept */
    int ending;                /* 1: cancelled; what is left to do is brief, and done */
    db_fit_course course;      /* of joint stages */
    db_fit_result *in_full;    /* [count]: results, of shots of which everything is told */
    db_shot_notices notices;   /* of what shots' files say */
} db_shots;

/* Of each parameter of a shot. */
typedef struct db_shot_values {
    double *value; /* refined so far */
    double *begin; /* of the starting model */
    double *error;
    int *at_bound;
    double *lit; /* see db_shot_summary.lit; only where lattices have one image */
} db_shot_values;

/* Numbers of a shot, one list after the other. */
static inline size_t db_shots_numbers(const db_shots *all) {
    return 3 * all->parameters + (all->parameters + 1) / 2 + (all->image ? all->parameters : 0);
}

static inline db_shot_values db_shots_values(const db_shots *all, size_t shot) {
    const size_t n = all->parameters;
    double *const row = all->numbers + shot * db_shots_numbers(all);
    return (db_shot_values){ row, row + n, row + 2 * n, (int *)(void *)(row + 3 * n),
                             row + 3 * n + (n + 1) / 2 };
}

static inline double *db_shots_value(const db_shots *all, size_t shot) {
    return db_shots_values(all, shot).value;
}

/* Do the shots share intensities, as frames of a series? */
static inline int db_series_shares(const db_shots *all) {
    return all->options->series && all->settings.intensity == DB_FIT_FREE && !all->image;
}

static inline size_t db_shots_chunks(const db_shots *all) {
    return (all->count + all->chunk - 1) / all->chunk;
}

/* Reads a shot from the source (db_fit_shot_source.load), and hears the notices. */
db_status db_shots_read(db_shots *all, db_context *context, size_t shot, db_measured_image *image,
                        db_experiment *start, db_fit_settings *settings);

/* Takes the amplitudes that all shots have from the first starting model that is read; those of others are freed. */
void db_shots_keep_amplitudes(db_shots *all, db_experiment *start);

/* Lets go of an image. */
void db_shots_release(const db_shots *all, db_measured_image *image);

/* Reads a shot's starting model, if it is not there yet, and its image. A shot that cannot be read
 * is excluded; *image is empty then. */
db_status db_shots_load(db_shots *all, db_context *context, size_t shot, db_measured_image *image);

/* The settings as they are for a shot. */
db_status db_shots_settings(const db_shots *all, db_context *context, size_t shot,
                            db_fit_settings *settings);

/* The model of a shot so far. */
typedef struct db_shot_model {
    db_experiment experiment; /* borrows from the state, but for the panels if they have moved */
    db_panel_placement placement; /* of groups of panels; owned */
    db_panel *panels;             /* owned; NULL: the state's */
    db_site_kinds *sites;         /* curves of f' and f''; owned; NULL: none */
} db_shot_model;
db_status db_shot_model_make(const db_shots *all, db_context *context, size_t shot,
                             db_shot_model *model);
/* Another one, of this place and these values. */
db_status db_shot_model_at(const db_shots *all, db_context *context, size_t shot,
                           const double orientation[9], const double *value, db_shot_model *model);
void db_shot_model_clear(db_shot_model *model);

/* Puts values of the parameters, in their order, into an experiment and a placement of its panels,
 * of which the experiment must own the list; and reads them. */
db_status db_shots_put(const db_shots *all, db_context *context, const double *value,
                       db_experiment *experiment, db_panel_placement *placement);
void db_shots_get(const db_shots *all, const db_experiment *experiment,
                  const db_panel_placement *placement, double *value);

/* Statistics of the starting model, or of the refined one (after). */
void db_shot_store_statistics(const db_fit_statistics *from, int after, db_shot_summary *summary);

/* Tells the caller of an event, in one process of all. */
void db_shots_report(const db_shots *all, const db_fit_shots_event *event);

/* Excludes a shot with a reason, or the context's message (NULL). Returns failures that no shot
 * causes (out of memory, a cancelled run), and any failure of a shot in full. */
db_status db_shots_exclude(db_shots *all, db_context *context, size_t shot, db_status status,
                           const char *reason);

/* Difference of a shot's value of quantity i from the shared value: detectors at several places keep their differences. */
double db_shots_shift(const db_shots *all, size_t shot, size_t i);

/* Reports the shots that have been excluded since the last call. */
void db_shots_report_excluded(db_shots *all);

/* DB_ERROR_INPUT, with the reason of the first one, if too few shots are left in use: none, or one
 * of several; DB_ERROR_USAGE if what excludes all is one mistake of what was asked for. */
db_status db_shots_check_count(const db_shots *all);

/* Values of shared parameters that follow others. */
void db_shots_tie_common(db_shots *all);

#endif
