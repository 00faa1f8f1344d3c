/* Fields of PREFIX.json for a single image, each with its meaning. */
#include "base/context_internal.h"
#include "fit/report/result_fields.h"
#include "fit/verdict/verdict_tests.h"

#define OF db_fit_start
static const db_json_field start_rows[] = {
    VALUE(number, "", "number in the sequence; 0: the given orientation"),
    VALUE(turn, "degree", "turn from the given orientation, about the laboratory's x, y, z"),
    VALUE(target, "", "χ² per degree of freedom after the shortened first stage"),
    VALUE(explained, "", "fraction of the strong pixels explained after the first stage"),
    VALUE(evaluations, "", "evaluations in all stages that ran"),
    VALUE(refined_explained, "", "fraction explained after all stages; null: they did not run"),
    FLAG(chosen, "the result comes from this start"),
};
static TABLE(start_fields, start_rows);
#undef OF

/* Digits of a number that a macro names. */
#define DIGITS_OF(number) #number
#define NAMED_DIGITS(macro) DIGITS_OF(macro)
#define MOST_COVERED NAMED_DIGITS(DB_FIT_MOST_COVERED)

#define OF db_fit_trial
static const db_json_field trial_rows[] = {
    VALUE(stage, "", "index into the stages"),
    FLAG(kept,
         "held-out spots are described better; stage by pixels: the misfit is small enough, and "
         "spots do not contradict its result"),
    VALUE(misfit, "", "stage by pixels: χ² per degree of freedom at its start; else 0"),
    VALUE(before, "",
          "loss of held-out spots without the stage, per spot; stage by pixels with free "
          "intensities: minus the log likelihood of all spots over random places, at its start"),
    VALUE(after, "", "the same with the stage, or at its end"),
    VALUE(spots, "", "spots in both halves"),
    VALUE(covered, "",
          "for a stage that held-out spots confirm: fraction of the detector that spots of its "
          "model cover, to two standard deviations; the stage is not kept above " MOST_COVERED
          ", nor if it has not converged"),
};
static TABLE(trial_fields, trial_rows);
#undef OF

#define OF db_fit_statistics
static const db_json_field statistics_rows[] = {
    VALUE(pixels, "", "pixels in use"),
    VALUE(shoeboxes, "", "shoeboxes in use"),
    VALUE(chi2, "", "χ² with the variances of the target"),
    VALUE(chi2_reduced, "", "χ² per degree of freedom"),
    VALUE(rms_residual, "counts", ""),
    VALUE(strong_pixels, "", "strong pixels of the image"),
    VALUE(strong_explained, "", "fraction of the strong pixels that the model explains"),
    VALUE(correlation, "", "correlation of model and measurement without background"),
    VALUE(centroid_rms, "pixels", "observed minus model centroid, root mean square"),
};
static TABLE(statistics_fields, statistics_rows);
#undef OF

#define OF db_fit_result
static const db_json_field before_after_rows[] = {
    PART(before, statistics_fields, "starting model"),
    PART(after, statistics_fields, "refined model"),
};
static TABLE(before_after_fields, before_after_rows);
#undef OF

/* A test with its names. */
typedef struct named_test {
    const char *name;
    const char *meaning;
    db_fit_test test;
} named_test;

#define OF named_test
static const db_json_field test_rows[] = {
    VALUE(name, "",
          "`lattice`, `rows`, `smaller`, `larger`, `moved`, `stretched`, `start`, `quarters`, "
          "`halves` (rivals), "
          "`intensities`, `brightness`, `explained`, `distance`"),
    VALUE(meaning, "", "meaning of `found`"),
    NAMED("found", test.found, "", "result; null: not tested"),
    NAMED("least", test.least, "", "least value that passes; null: no limit"),
    NAMED("most", test.most, "", "largest value that passes; null: no limit"),
    NAMED_FLAG("passed", test.passed, "passed, or not tested"),
};
static TABLE(test_fields, test_rows);
#undef OF

static json_t *tests(db_document *d, const void *of) {
    const db_fit_verdict *const v = of;
    json_t *const array = json_array();
    for (int k = 0; k < DB_FIT_TESTS; k++) {
        const named_test t = { db_fit_test_name((db_fit_test_kind)k),
                               db_fit_test_meaning((db_fit_test_kind)k), v->test[k] };
        db_document_add(d, array, db_json_object(d, &test_fields, &t));
    }
    return array;
}

static json_t *centring(db_document *d, const void *of) {
    (void)d;
    return db_document_letter(((const db_fit_verdict *)of)->centring);
}

#define OF db_fit_verdict
static const db_json_field verdict_rows[] = {
    FLAG(usable, "all tests are passed: orientation and cell may be used"),
    VALUE(reason, "", "failed test and possible causes"),
    VALUE(spots, "",
          "spots of the image in the resolution range, found without a model; at most the "
          "strongest 1000"),
    VALUE(at, "", "spots that are likelier at reflections of the lattice than at random places"),
    VALUE(position_rms, "pixels",
          "distance of these spots from their predicted places, root mean square"),
    VALUE(intensities, "", "known intensities: shoeboxes compared with calculated intensities"),
    MADE("tests", tests, "list", &test_fields, "", "all tests"),
    VALUE(light_spots, "", "free intensities: spots of the final data"),
    VALUE(light_part, "",
          "fraction of these spots whose brightness in the model is right within a factor of 1.5; "
          "null: fewer than 20 spots"),
    FLAG(intensities_usable, "free intensities may be used: light_part is 2/3 or more"),
    MADE("centring", centring, "text or null", NULL, "",
         "letter of a centring that the symmetry does not name, if spots are at its reflections "
         "only; null: none"),
    VALUE(centring_gain, "",
          "log likelihood of the spots with its reflections minus with all; 0: no centring"),
};
static TABLE(verdict_fields, verdict_rows);
#undef OF

#define OF db_fit_orientation
static const db_json_field orientation_rows[] = {
    VALUE(spots, "", "remaining spots that distinguish orientations"),
    VALUE(indexed, "", "spots near nodes of another lattice; 0: none found, or few spots remain"),
    VALUE(by_chance, "", "expected `indexed` for a lattice in a random orientation"),
};
static TABLE(orientation_fields, orientation_rows);
#undef OF

#define OF db_fit_mates
static const db_json_field mates_rows[] = {
    VALUE(pairs, "", "their measurements, less one for each reflection"),
    VALUE(error, "",
          "e, which adds e² (1 + ln² partiality) F⁴ to the variance of F²; 0: the mates show none, "
          "have unrelated intensities, or are fewer than ten pairs"),
    VALUE(gain, "",
          "gain in log likelihood of the mates by the likeliest error; null: fewer than ten pairs"),
    VALUE(strong_pairs, "", "pairs in which one is above 5 standard errors"),
    VALUE(noise_scatter, "", "robust scatter of these pairs in standard errors by noise alone"),
    VALUE(scatter, "", "robust scatter of these pairs in the standard errors given"),
};
static TABLE(mates_fields, mates_rows);
#undef OF

#define OF db_fit_goodness
static const db_json_field goodness_rows[] = {
    VALUE(pixels, "", ""),
    VALUE(chi2_reduced, "", "χ² per degree of freedom"),
    VALUE(residual, "", "Σ\\|measured - model\\| / Σ\\|measured - background\\|"),
    VALUE(correlation, "", "correlation of model and measurement without background"),
};
static TABLE(goodness_fields, goodness_rows);
#undef OF

#define OF db_fit_shell
static const db_json_field shell_rows[] = {
    VALUE(d_max, "Å", ""),
    VALUE(d_min, "Å", ""),
    PART(before, goodness_fields, "starting model"),
    PART(after, goodness_fields, "refined model"),
};
static TABLE(shell_fields, shell_rows);
#undef OF

#define OF db_fit_region
static const db_json_field region_rows[] = {
    VALUE(panel, "", "from 0"),
    VALUE(fast_start, "pixels", ""),
    VALUE(slow_start, "pixels", ""),
    VALUE(fast_count, "pixels", ""),
    VALUE(slow_count, "pixels", ""),
    VALUE(spots, "", "spots with observed and model centroids"),
    VALUE(shift, "pixels", "mean of observed minus model centroid, fast and slow"),
    PART(before, goodness_fields, "starting model"),
    PART(after, goodness_fields, "refined model"),
};
static TABLE(region_fields, region_rows);
#undef OF

#define OF db_fit_pixel
static const db_json_field pixel_rows[] = {
    VALUE(panel, "", "from 0"),
    VALUE(fast, "", "pixel of the panel, from 0"),
    VALUE(slow, "", ""),
    VALUE(counts, "counts", "measured"),
    VALUE(model, "counts", "expected"),
    VALUE(z, "", "(counts - model)/σ"),
    VALUE(trust, "", "weight of the pixel, at most 1"),
};
static TABLE(pixel_fields, pixel_rows);
#undef OF

#define OF db_fit_result
static const db_json_field distrusted_rows[] = {
    NAMED("count", distrusted_count, "",
          "pixels in use more than 5 σ off the model; 0 with other targets"),
    LIST("pixels", distrusted, distrusted_listed, pixel_fields,
         "the first 100, least trusted first"),
};
static TABLE(distrusted_fields, distrusted_rows);
#undef OF

#define OF db_fit_shoebox
static const db_json_field shoebox_rows[] = {
    VALUE(hkl, "", ""),
    VALUE(d_spacing, "Å", ""),
    NAMED("panel", region.panel, "", "from 0"),
    VALUE(predicted, "pixels", "position, fast and slow"),
    VALUE(intensity, "", "J in model = J × shape + plane"),
    VALUE(intensity_esd, "", "standard error of `intensity`"),
    VALUE(background, "counts",
          "plane: constant, per pixel fast, per pixel slow, from the box centre"),
    VALUE(chi2, "", ""),
    VALUE(centroid_offset, "pixels", "observed minus model centroid, fast and slow"),
    VALUE(sigma_z, "", "standard deviation of Z = (measured - model)/σ"),
    VALUE(worst_z, "", "Z of the pixel farthest from the model"),
    FLAG(outlier, ""),
    VALUE(pixels_used, "", ""),
    VALUE(strong_pixels, "", ""),
    VALUE(strong_explained, "", "strong pixels that the model explains"),
};
static TABLE(shoebox_fields, shoebox_rows);
#undef OF

static json_t *space_group(db_document *d, const void *of) {
    (void)of;
    return db_document_text(*d->config->symmetry ? d->config->symmetry
                                                 : d->config->hkl_space_group);
}

static json_t *beam_centre(db_document *d, const void *of) {
    const db_detector *const detector = &((const db_fit_result *)of)->experiment.detector;
    const double *const pixel = detector->panels[0].pixel_size;
    const double centre[2] = { detector->centre[0] / pixel[0], detector->centre[1] / pixel[1] };
    return db_document_numbers(d, centre, 2);
}

#define OF db_fit_result
static const db_json_field in_short_rows[] = {
    MADE("space_group", space_group, "text", NULL, "",
         "given number, symbol or crystal system; empty: not given"),
    NAMED("cell", experiment.crystal.cell, "Å, degree", "a, b, c, alpha, beta, gamma"),
    NAMED("orientation", experiment.crystal.orientation, "",
          "rotation from the standard frame, row by row, before the misset"),
    NAMED("misset", experiment.crystal.misset, "degree",
          "rotations about the laboratory's x, then y, then z"),
    NAMED("wavelength", experiment.beam.wavelength, "Å", ""),
    NAMED("distance", experiment.detector.distance, "mm", ""),
    MADE("beam_centre", beam_centre, "list of 2 numbers", NULL, "pixels", "fast and slow"),
};
static TABLE(in_short_fields, in_short_rows);
#undef OF

/* Headline errors: error and correlation in one. */
static json_t *covariance(db_document *d, const void *of) {
    const db_fit_estimates *const e = &((const db_fit_result *)of)->estimates;
    json_t *const array = json_array();
    for (size_t i = 0; i < e->count; i++) {
        json_t *const row = json_array();
        for (size_t k = 0; k < e->count; k++)
            db_document_add(
                d, row,
                db_document_number(e->correlation[i][k] * e->list[i].error * e->list[k].error));
        db_document_add(d, array, row);
    }
    return array;
}

static json_t *use(db_document *d, const void *of) {
    char text[DB_USE_SIZE];
    (void)d;
    db_verdict_sentence(of, text);
    return db_document_text(text);
}

static json_t *reciprocal_matrix(db_document *d, const void *of) {
    double a_star[9];
    db_crystal_matrix(&((const db_fit_result *)of)->experiment.crystal, a_star);
    return db_document_numbers(d, a_star, 9);
}

#define OF db_fit_result
static const db_json_field result_rows[] = {
    MADE("use", use, "text", NULL, "", "whether the result may be used, in one sentence"),
    PART(verdict, verdict_fields, "tests whether the result may be used"),
    LINES(warnings, warning_count, "points to check before the result is used"),
    TEXTS(advice, warning_count, "advice for each warning"),
    MADE("covariance", covariance, "list of lists", NULL, "",
         "covariance matrix of the parameters, from `error` and `correlation`"),
    SELF("experiment", in_short_fields, "main numbers of the refined experiment"),
    MADE("reciprocal_matrix", reciprocal_matrix, "list of 9 numbers", NULL, "1/Å",
         "a\\*, b\\*, c\\* in columns, row by row; laboratory frame, goniometer at 0"),
    SELF("statistics", before_after_fields, "starting and refined model on the final data"),
    LIST("shells", shells, shell_count, shell_fields,
         "resolution shells with equal numbers of pixels, from low to high resolution"),
    LIST("regions", regions, region_count, region_fields, "rectangles of the detector"),
    LIST("starts", starts, start_count, start_fields,
         "results of several starts, the best first; empty for one start"),
    LIST("trials", trials, trial_count, trial_fields,
         "stages that run under a condition: a stage with earned parameters was refined on each "
         "half of the spots and judged by the other half"),
    VALUE(shoebox_half_width, "pixels", "given or chosen half width"),
    VALUE(distance_step, "mm",
          "change of the held distance for which the data ask, if edges of the cell are refined; "
          "null: not tested"),
    VALUE(distance_error, "mm", "standard error of `distance_step`"),
    VALUE(distance_gain, "", "gain in log likelihood of the spots by this change"),
    VALUE(all_spots, "", "spots of the image in the resolution range"),
    VALUE(left_spots, "", "spots that lie at no reflection of the model"),
    PART(other_lattice, orientation_fields,
         "result of a search for another lattice of the same cell among these spots, or among "
         "those that "
         "the start left, if the model leaves few and is not to be used"),
    PART(mates, mates_fields,
         "free intensities: symmetry mates of partiality 0.05 and more, and the error of "
         "partialities by their scatter"),
    VALUE(sigma_z_median, "", "median of `sigma_z` of the shoeboxes"),
    VALUE(sigma_z_limit, "", "limit of `sigma_z` above which shoeboxes are outliers"),
    SELF("distrusted", distrusted_fields,
         "single pixels with small weights in the targets `huber` and `student`"),
    VALUE(evaluations, "", "evaluations of the target"),
    LIST("shoeboxes", shoeboxes, shoebox_count, shoebox_fields, ""),
};
TABLE(db_result_fields, result_rows);
#undef OF
