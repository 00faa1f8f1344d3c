#include "cli/printout.h"

#include "base/vector.h"
#include "cli/complaint.h"

#include <dualbragg/expert/pixel_trace.h>
#include <math.h>
#include <stdio.h>

static db_status check_pixel(const db_session *session, const char *flag, int fast, int slow) {
    const db_region *const r = &session->region;
    if (fast >= r->fast_start && fast < r->fast_start + r->fast_count && slow >= r->slow_start &&
        slow < r->slow_start + r->slow_count)
        return DB_OK;
    return db_complain(session->settings.command, DB_ERROR_INPUT,
                       "%s: expected a pixel that is rendered, found fast %d, slow %d", flag, fast,
                       slow);
}

db_status db_printout_check(const db_session *session) {
    const db_settings *s = &session->settings;
    db_status status = DB_OK;
    const int wanted = s->printout || s->trace_pixel[0] >= 0;
    if (wanted && session->experiment.spread.spots == DB_SPOTS_CLOSED)
        return db_complain(s->command, DB_ERROR_UNSUPPORTED,
                           "%s: spots in closed form have no samples to print; expected -spots "
                           "sampled",
                           s->printout ? "-printout" : "-trace_pixel");
    if (s->printout_pixel[0] >= 0)
        status =
            check_pixel(session, "-printout_pixel", s->printout_pixel[0], s->printout_pixel[1]);
    if (status == DB_OK && s->trace_pixel[0] >= 0)
        status = check_pixel(session, "-trace_pixel", s->trace_pixel[1], s->trace_pixel[0]);
    return status;
}

static void keep_last(void *user, const db_trace_sample *sample) {
    *(db_trace_sample *)user = *sample;
}

/* In the reference's form: values that depend on the sample are those of the last one; polarization, solid angle
 * and captured fraction are means. */
static db_status print_pixel(const db_session *session, const db_trace *trace, const float *image,
                             int fast, int slow) {
    db_trace_sample s;
    db_trace_sum sum;
    const db_status status =
        db_trace_pixel(session->context, trace, 0, fast, slow, keep_last, &s, &sum);
    if (status != DB_OK) return status;
    const double stol = db_length(s.q) / 2;
    const double pixel = (double)image[(size_t)slow * session->region.stride + (size_t)fast];
    printf("%4d %4d : stol = %g or %g\n", fast, slow, 1e10 * stol,
           stol * s.wavelength / session->experiment.beam.wavelength);
    printf("at %g %g %g\n", 1e-3 * s.position[0], 1e-3 * s.position[1], 1e-3 * s.position[2]);
    printf("hkl= %f %f %f  hkl0= %.0f %.0f %.0f\n", s.miller[0], s.miller[1], s.miller[2],
           s.node[0], s.node[1], s.node[2]);
    printf(" F_cell=%g  F_latt=%g   I = %g\n", s.amplitude, sqrt(s.lattice_square), sum.squares);
    const int layers = session->experiment.detector.sensor_layers;
    printf("I/steps %15.10g\n", sum.squares * layers / (double)sum.samples);
    printf("polar   %15.10g\nomega   %15.10g\ncapfrac %15.10g\npixel   %15.10g\n", sum.polarization,
           sum.omega, sum.capture, pixel);
    puts("real-space cell vectors (Angstrom):\n     a           b           c         ");
    for (int r = 0; r < 3; r++)
        printf("%c: %11.8f %11.8f %11.8f\n", "XYZ"[r], s.lattice[r], s.lattice[3 + r],
               s.lattice[6 + r]);
    return DB_OK;
}

static db_status print_pixels(const db_session *session, const db_trace *trace,
                              const float *image) {
    const int *one = session->settings.printout_pixel;
    const db_region *r = &session->region;
    if (one[0] >= 0) return print_pixel(session, trace, image, one[0], one[1]);
    db_status status = DB_OK;
    for (int slow = 0; slow < r->slow_count && status == DB_OK; slow++)
        for (int fast = 0; fast < r->fast_count && status == DB_OK; fast++)
            if (!session->mask ||
                session->mask[r->offset + (size_t)slow * r->stride + (size_t)fast])
                status =
                    print_pixel(session, trace, image, r->fast_start + fast, r->slow_start + slow);
    return status;
}

static void print_three(const char *name, const double v[3], int digits) {
    printf(" %s %.*g %.*g %.*g", name, digits, v[0], digits, v[1], digits, v[2]);
}

/* user: the number of digits */
static void print_sample(void *user, const db_trace_sample *s) {
    const int digits = *(const int *)user;
    printf("sample layer %d sub-pixel %d %d source %zu phi step %d domain %d:", s->layer,
           s->sub_fast, s->sub_slow, s->source, s->phi_step, s->domain);
    print_three("position", s->position, digits);
    print_three("direction", s->direction, digits);
    printf(" wavelength %.*g", digits, s->wavelength);
    print_three("q", s->q, digits);
    printf(" d %.*g", digits, 1 / db_length(s->q));
    print_three("hkl", s->miller, digits);
    printf(" node %.0f %.0f %.0f F %.*g F_latt^2 %.*g solid_angle %.*g polarization %.*g capture "
           "%.*g weight %.*g",
           s->node[0], s->node[1], s->node[2], digits, s->amplitude, digits, s->lattice_square,
           digits, s->omega, digits, s->polarization, digits, s->capture, digits, s->weight);
    if (s->debye_waller != 1) printf(" debye_waller %.*g", digits, s->debye_waller);
    printf("%s intensity %.*g\n", s->cut ? " cut" : "", digits, s->intensity);
}

static db_status print_trace(const db_session *session, const db_trace *trace, const float *image) {
    const int slow = session->settings.trace_pixel[0], fast = session->settings.trace_pixel[1];
    int digits = session->settings.digits;
    db_trace_sum sum;
    printf("trace of pixel slow %d, fast %d; lengths in mm (position) and angstrom, intensities in "
           "photons\n",
           slow, fast);
    const db_status status =
        db_trace_pixel(session->context, trace, 0, fast, slow, print_sample, &digits, &sum);
    if (status != DB_OK) return status;
    printf("sum of %zu samples, %zu of them cut: F^2 F_latt^2 %.*g solid_angle %.*g polarization "
           "%.*g capture %.*g crystal %.*g background %.*g intensity %.*g; rendered %.*g\n",
           sum.samples, sum.cut, digits, sum.squares, digits, sum.omega, digits, sum.polarization,
           digits, sum.capture, digits, sum.crystal, digits, sum.background, digits, sum.intensity,
           digits, (double)image[(size_t)slow * session->region.stride + (size_t)fast]);
    return DB_OK;
}

db_status db_printout(const db_session *session, const float *image) {
    const db_settings *s = &session->settings;
    db_trace *trace = NULL;
    if (!s->printout && s->trace_pixel[0] < 0) return DB_OK;
    db_status status = db_trace_create(session->context, &session->experiment, &trace);
    if (status == DB_OK && s->printout) status = print_pixels(session, trace, image);
    if (status == DB_OK && s->trace_pixel[0] >= 0) status = print_trace(session, trace, image);
    db_trace_destroy(&trace);
    return status;
}
