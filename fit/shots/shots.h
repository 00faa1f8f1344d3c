/* All shots of a refinement, and their common state. */
#ifndef DB_FIT_SHOTS_SHOTS_H
#define DB_FIT_SHOTS_SHOTS_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/pixels/strong_pixels.h"
#include "fit/search/refinement.h"
#include "fit/linear/schur.h"
#include "fit/shots/store.h"
#include "fit/config/quantity.h"
#include "fit/verdict/rivals.h"

#include "base/shot_notices.h"

#include <dualbragg/fit_shots.h>

#include <string.h>

/* A shot in a joint stage, at some values of the shared quantities. */
typedef struct db_shot_point {
    double *local;      /* values of its local quantities */
    db_schur_tail tail; /* their change with the shared ones */
    double *sums;       /* equations of the shared ones (db_contradiction_size) */
} db_shot_point;

/* Place of the moments of a shot's spots in the store. */
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

/* State of a shot that only its process has; its summary goes to rank 0. */
typedef struct db_shot_state {
    /* as read, with the shared values of the start; owned; without common amplitudes */
    db_experiment start;
    /* curves of f' and f'' of its own, if those of the common amplitudes do not reach its energies; NULL: they do; owned */
    db_site_kinds *curves;
    double gain, readout_noise;
    int choose_oversample, centring, orientation_found; /* as in db_fit_settings */
    /* 1: a frame of a series with too few photons beside its spots for planes of shoeboxes */
    int is_dim;
    int shoebox_half_width;    /* pixels; 0: not chosen yet */
    const db_fit_spots *spots; /* see db_fit_settings; owned by the source */
    double *lower;             /* [parameters] bounds */
    double *upper;
    double *centre; /* [parameters] priors; of shared parameters those of the list count */
    double *sigma;
    double *moved; /* as in db_fit_parameter */
    db_store_place place;
    db_shot_moments moments; /* instead of pixels, in a joint stage of moments */
    /* in the store: light of the other lattices of its image; -1: none */
    long long light;
    long long record;           /* in the store: equations of joint intensities; -1: none */
    long long linearization[2]; /* in the store: linearizations of its boxes; -1: none */
    db_shot_point best, trial;
    double best_target; /* of the best point, as in the summary */
    /* [linked variables] of a joint stage (fit/shots/links.h); behind best.local */
    struct db_linked_start *begin;
    double degrees; /* degrees of freedom, with an intensity for each box */
    /* of a series: reflections of the boxes of this joint stage, and those that the frame shows;
     * owned */
    db_shown boxes, shown;
    db_shown shown_before;   /* reflections shown in the joint stage before; owned */
    db_strong_memory strong; /* of its image; owned */
    int needed;              /* 1: the stage in which the run continues began with this shot */
    int reported;            /* 1: its exclusion was reported */
    int begun;               /* 1: this process works on it */
    db_status excluded_by;   /* failure for which this process has excluded it */
} db_shot_state;

typedef enum db_wrongness {
    DB_SHOT_RIGHT,
    DB_SHOT_WRONG,
    DB_FRAME_UNDECIDED /* of a series: its few spots do not confirm the model alone */
} db_wrongness;

/* Margin of light: squared misfit of the light of a frame's spots minus half the squared misfit of a rival, in
 * squares of errors; and its variance by noise. */
typedef struct db_light_margin {
    double excess, variance;
} db_light_margin;

enum { DB_RIVAL_SPREADS = 2 }; /* mosaic spreads beside the model's: half and twice as wide */
/* Renderings of a frame beside the model's: of these; if it is not as wide as the step to the next one, also of a frame that
 * is, and with a wider mosaic spread; if it is, of a narrower frame. */
enum { DB_RIVAL_MEETING = DB_RIVAL_SPREADS, DB_RIVAL_WIDER, DB_RIVAL_NARROWER, DB_LIGHT_RIVALS };

/* Light of a frame of a series, in the boxes of all reflections that the series shows there
 * (fit/shots/series_light.c): squared misfit of the model, and of no light, without the part of noise; margins
 * over a model without spots, and over spots as bright on all frames that show them; spots with strong pixels, and
 * number of them with the right brightness in the model. */
typedef struct db_frame_light {
    double missed, all;
    db_light_margin none, even, spread[DB_RIVAL_SPREADS];
    size_t spots, alike;
} db_frame_light;

/* Results of a shot, beside its values (db_shots_values), in its process and in rank 0. */
typedef struct db_shot_summary {
    int used; /* 0: excluded */
    /* in use, but its spots contradict the result, or a bound holds it: reason; db_wrongness */
    int wrong;
    size_t judged;    /* spots that judge it */
    double margin[3]; /* margins (ln) over random places, over rows, over a smaller cell */
    int stage;        /* its next stage; joint ones count when all shots have done them */
    int readable;     /* 1: its model and image have been read */
    int again;        /* 1: begins once more, with the shared values of the first joint stage */
    int opened;       /* 1 + the joint stage for which its values are ready; 0: none */
    char reason[DB_FIT_REASON_SIZE];
    double orientation[9];
    double reference[9]; /* orientation to which the angles of the result refer */
    int is_laid;         /* 1: its equivalent orientations have been compared */
    double laid
        [9]; /* change of indices to the equivalent orientation with which it begins; 0: its own */
    db_fit_shot_identity identity; /* empty: unknown */
    double wavelength;             /* of its start (angstrom) */
    double degrees;                /* degrees of freedom, without shared quantities */
    db_fit_statistics fit[2];      /* of the starting and of the refined model; NAN: unknown */
    db_frame_light light;          /* of a series, at its end; 0: unknown */
    db_centrings centrings;        /* by its spots, at its end */
    double target;                 /* per degree of freedom, after a joint stage; 0: unknown */
    /* 2 + the end of the segment (see joint_stages.h) in which lattices of its image shared their
     * light; 0: none */
    int lit;
    double lit_orientation
        [9]; /* of the model that gave light there; its values are db_shot_values.lit */
} db_shot_summary;

/* Values of the parameters that all shots share. */
typedef struct db_common_values {
    double value[DB_FIT_MOST_PARAMETERS], start[DB_FIT_MOST_PARAMETERS];
    int at_bound[DB_FIT_MOST_PARAMETERS]; /* -1, 0, 1 */
} db_common_values;

/* A crystal of a series at the start, on its first readable frame; shots that are no series have one that counts. */
typedef struct db_series_crystal {
    size_t first, count; /* its frames, which are shots in a row */
    int is_known;        /* 1: a frame has been read */
    int in_use;          /* 1: of several crystals, a frame was in use when light was shared last */
    double orientation[9]; /* at which its angles are 0 */
    double value[DB_FIT_MOST_PARAMETERS];
} db_series_crystal;

static inline size_t db_crystal_of_shot(const db_series_crystal *crystal, size_t crystals,
                                        size_t shot) {
    size_t c = 0;
    while (c + 1 < crystals && shot >= crystal[c + 1].first) c++;
    return c;
}

/* How a quantity that frames of a series share varies. */
typedef enum db_varying {
    DB_VARIES_NOT,
    DB_VARIES_AT_KNOTS, /* linearly between knots, each crystal's own */
    DB_VARIES_BY_CRYSTAL,
    DB_VARIES_BY_SETTING /* of goniometer or detector */
} db_varying;

/* Threads that work on shots, each with its own context (workers.h). */
typedef struct db_workers {
    int count;
    db_context **context;
} db_workers;

/* What frames of a series have together. Shots that are no series have one crystal, and nothing else. */
typedef struct db_shots_frames {
    size_t crystals;
    db_series_crystal *crystal; /* [crystals], in the order of their frames; owned */
    /* numbers of the frames' settings, those of the crystal each crystal's own, [count] from 0, NULL: there is one of it; owned;
     * and how many there are */
    size_t *setting[DB_FIT_SETTINGS], setting_count[DB_FIT_SETTINGS];
    size_t *sweep; /* [count] numbers of the sweeps, in a joint stage; owned */
    double *step;  /* [count] least turn between frames of the sweep (degree); 0: unknown; owned */
    char turns[DB_FIT_REASON_SIZE]; /* at the end: for what other turns frames ask; "": none */
    char dark
        [DB_FIT_WARNING_SIZE]; /* which settings or crystals have no light, in rank 0; "": none */
    unsigned char *is_dark;    /* [count] is the frame one of these? owned */
} db_shots_frames;

/* The detector of the first readable shot. */
typedef struct db_shots_plate {
    size_t panels;
    double pixel_size;                  /* mm */
    char displaced[DB_FIT_REASON_SIZE]; /* at the end: which panel stands elsewhere; "": none */
} db_shots_plate;

/* Joint intensities: reflections of the asymmetric unit. */
typedef struct db_shots_asu {
    db_asu_list reflections; /* empty: none; owned */
    double *reference;       /* [reflections] known intensities, NAN if missing; NULL; owned */
} db_shots_asu;

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
    unsigned char varies[DB_FIT_MOST_PARAMETERS]; /* db_varying */
    size_t count;
    db_series *series; /* intensities of a series in a joint stage; else NULL */
    db_shots_frames frames;
    db_shots_plate plate;
    size_t *image;            /* [count]: first shot with the same image; NULL: each has its own */
    db_shot_state *state;     /* [count] */
    db_shot_summary *summary; /* [count] */
    double *numbers;          /* of the shots' parameters: db_shots_values */
    db_common_values common;
    size_t chunk;      /* consecutive shots whose sums are one */
    db_shares *shares; /* distribution over processes */
    size_t used;       /* shots in use in all processes, when they last met */
    double degrees;    /* degrees of freedom of these */
    db_workers workers;
    db_structure_factors amplitudes; /* common to all shots, if known; owned */
    db_shots_asu asu;
    db_store store;
    size_t evaluations;        /* evaluations of single shots */
    db_checkpoint *checkpoint; /* NULL: none is kept */
    int ending;                /* 1: cancelled; the rest is short, and done */
    db_fit_course course;      /* history of joint stages */
    db_fit_result *in_full;    /* [count]: results of shots in full */
    db_shot_notices notices;   /* contents of shots' files that are not used */
} db_shots;

/* Values of each parameter of a shot. */
typedef struct db_shot_values {
    double *value; /* refined so far */
    double *begin; /* of the starting model */
    double *error;
    int *at_bound;
    double *lit; /* see db_shot_summary.lit; only if lattices share images */
} db_shot_values;

/* Number of a shot's numbers, one list after the other. */
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
    return all->options->series && all->settings.intensity == DB_FIT_FREE;
}

/* Fewest spots of what frames of a series show together: a passage gives three numbers, its place and its angle, where a spot of
 * a still gives two. */
static inline size_t db_series_fewest(const db_shots *all) {
    return (2 * (size_t)all->settings.min_strong_reflections + 2) / 3;
}

/* Number of the crystal that a shot shows. */
static inline size_t db_shots_crystal(const db_shots *all, size_t shot) {
    return db_crystal_of_shot(all->frames.crystal, all->frames.crystals, shot);
}

static inline size_t db_shots_chunks(const db_shots *all) {
    return (all->count + all->chunk - 1) / all->chunk;
}

/* Reads a shot from the source (db_fit_shot_source.load), and takes its notices. */
db_status db_shots_read(db_shots *all, db_context *context, size_t shot, db_measured_image *image,
                        db_experiment *start, db_fit_settings *settings);

/* Takes the common amplitudes from the first starting model; frees those of others. */
void db_shots_keep_amplitudes(db_shots *all, db_experiment *start);

/* Takes the starting values of a crystal from one of its frames, unless they are known. */
void db_shots_begin_crystal(db_shots *all, size_t shot, const db_experiment *start);

/* Lets go of an image. */
void db_shots_release(const db_shots *all, db_measured_image *image);

/* Reads a shot's starting model, unless it is there, and its image. A shot that cannot be read is excluded; *image
 * is empty then. */
db_status db_shots_load(db_shots *all, db_context *context, size_t shot, db_measured_image *image);

/* Settings for a shot. */
db_status db_shots_settings(const db_shots *all, db_context *context, size_t shot,
                            db_fit_settings *settings);

/* Known amplitudes of a shot; borrowed. */
db_structure_factors db_shots_amplitudes(const db_shots *all, size_t shot);

/* Present model of a shot. */
typedef struct db_shot_model {
    db_experiment experiment;     /* borrows from the state, except for moved panels */
    db_panel_placement placement; /* of groups of panels; owned */
    db_panel *panels;             /* owned; NULL: the state's */
    db_site_kinds *sites;         /* curves of f' and f''; owned; NULL: none */
} db_shot_model;
db_status db_shot_model_make(const db_shots *all, db_context *context, size_t shot,
                             db_shot_model *model);
/* Another model with this placement and these values. */
db_status db_shot_model_at(const db_shots *all, db_context *context, size_t shot,
                           const double orientation[9], const double *value, db_shot_model *model);
void db_shot_model_clear(db_shot_model *model);

/* Sets values of the parameters, in their order, in an experiment and a placement of its panels, whose list the
 * experiment must own; and reads them. */
db_status db_shots_put(const db_shots *all, db_context *context, const double *value,
                       db_experiment *experiment, db_panel_placement *placement);
void db_shots_get(const db_shots *all, const db_experiment *experiment,
                  const db_panel_placement *placement, double *value);

/* Reports an event, in one process of all. */
void db_shots_report(const db_shots *all, const db_fit_shots_event *event);

/* Excludes a shot with a reason, or the context's message (NULL). Returns failures that no shot causes (out of
 * memory, a cancelled run), and any failure of a shot in full. */
db_status db_shots_exclude(db_shots *all, db_context *context, size_t shot, db_status status,
                           const char *reason);

/* Difference of a shot's value of quantity i from the shared value: detectors at several places keep their
 * differences. */
double db_shots_shift(const db_shots *all, size_t shot, size_t i);

/* Why a shot is excluded or wrong, with the number of its crystal if there are several. */
void db_shots_reason(const db_shots *all, size_t shot, char reason[DB_FIT_REASON_SIZE]);

/* Reports the shots that have been excluded since the last call. */
void db_shots_report_excluded(db_shots *all);

/* DB_ERROR_INPUT, with the first reason, if too few shots are in use: none, or one of several; DB_ERROR_USAGE if a
 * fault of the settings excludes all. */
db_status db_shots_check_count(const db_shots *all);

/* Sets shared parameters that follow others. */
void db_shots_tie_common(db_shots *all);

/* Lets a shot begin once more, with the present shared values, if it was read, is excluded, and has not had it. */
void db_shots_begin_again(db_shots *all, size_t shot);

/* A shot begins once more at an equivalent orientation, with these indices of its present ones. */
db_status db_shots_lay(db_shots *all, db_context *context, size_t shot, const double indices[9]);

#endif
