/* Settings from the flags of sim, grad, check, amorphous, orient and noise. */
#ifndef DB_CLI_SETTINGS_H
#define DB_CLI_SETTINGS_H

#include "cli/arguments.h"

#include <dualbragg/dualbragg.h>

/* Order of the words of --precision. */
enum { DB_CHOOSE_AUTO, DB_CHOOSE_DOUBLE, DB_CHOOSE_MIXED };

typedef struct db_settings {
    const db_flag_table *flags; /* flags of the command */
    const char *command;        /* "sim" ... */
    db_setup setup;
    long seed;             /* 0: not given */
    const char *mask_file; /* image whose header is read before the flags, like img_file */
    const char *img_file;
    int roi[4]; /* fast min, max, slow min, max, inclusive; first -1: whole panel */

    /* outputs */
    const char *float_file;
    const char *hdf5_file;
    const char *wavelength_file;
    const char *int_file;
    const char *png_file;
    const char *output_directory;
    const char *prefix;
    const char *pgm_file;
    const char *expt_file;
    const char *spot_file;
    double scale, adc, pgm_scale;
    int adc_given;
    int pgm;               /* -1 automatic, 0 none, 1 asked for */
    int printout;          /* 1: print contributions to pixels */
    int printout_pixel[2]; /* fast, slow; first -1: all */
    int trace_pixel[2];    /* slow, fast; first -1: none */

    /* many shots */
    const char *shots_file;
    int random_shots;   /* 0: none */
    int range[2];       /* from 1; first 0: all */
    int resume;         /* 1: continue existing files */
    int no_reflections; /* 1: labels without reflections */
    double cell_jitter, fluence_jitter, wavelength_jitter;
    double sase[2]; /* relative full widths: of the spectrum, of a spike; 0: none */

    /* noise */
    const char *noise_file;
    const char *noise_float_file;
    int noise_wanted;       /* -1: open, 0 -nonoise, 1 -noisefile */
    int noise_given;        /* part of a detector that appears only in noise images */
    db_noise_options noise; /* without seeds, scale, offset and width of the point spread */
    long calibration_seed;
    double psf_width; /* um; 0: not given */

    /* orientation matrices */
    const char *keyword_file;
    const char *output_file; /* -o: for view, the picture */
    int print_as;            /* 0 matrix, 1 flags */

    /* pictures of measured images */
    struct {
        int colours, logarithmic; /* grey, inverted, heat */
        double counts[2], percentile[2];
        int bin, size; /* 0: chosen */
        int no_rings, no_observed;
        double ring[9]; /* NAN: not given */
        double strong, near;
        int sum; /* images */
    } view;

    /* how to run */
    int threads;
    int precision_choice;       /* DB_CHOOSE_*: the user's choice */
    db_precision precision;     /* precision in use */
    double tolerance;           /* photons that a pixel may lack; NAN: not given */
    double tolerance_chosen_at; /* fluence times scale for which it was chosen; 0: it was given */
    const char *isa;
    const char *device;
    int progress; /* -1 automatic, 0 none, 1 asked for */
    int quiet, digits;
    const char *profile_file;

    /* derivatives */
    const char *parameters; /* comma-separated, or "all" */
    double difference_tolerance, contraction_tolerance;
    int check_all; /* 1: every pixel, without a limit of time */

    int help, list_parameters; /* asked for: printed, and nothing else */

    /* found while reading the flags */
    int vector_given; /* 1: makes the convention CUSTOM */
    int misset_seed_given;
    int matter_given; /* 1: size, density ... of amorphous matter are given */
} db_settings;

#endif
