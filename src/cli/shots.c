#define _XOPEN_SOURCE 700 /* signals */
#include "cli/shots.h"

#include "base/context_internal.h"
#include "base/shown_text.h"
#include "cli/complaint.h"
#include "cli/images.h"
#include "cli/noise_output.h"
#include "cli/noise_settings.h"
#include "cli/progress_bar.h"
#include "cli/shot_parcel.h"
#include "cli/signals.h"
#include "cli/stopwatch.h"
#include "base/threads.h"
#include "model/beam_spectrum.h"
#include "model/shot_chance.h"

#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/instruction_set.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One file of images, with noise or without. */
typedef struct output {
    const char *path; /* NULL: not wanted */
    db_nexus_format format;
    db_nexus_writer *writer;
    db_nexus_labels *labels;
} output;

enum {
    PHOTONS = DB_SHOT_PHOTONS,
    NOISY = DB_SHOT_NOISY,
    WAVELENGTHS = DB_SHOT_WAVELENGTHS,
    OUTPUTS = DB_SHOT_OUTPUTS
};

typedef struct shots_run {
    db_session *session;
    const db_processes *all;
    int failed_here; /* 1: before the first shot */
    db_shot_list list;
    /* first: first shot of this run, from 0; count: of this run, including the shots that its
     * files already have */
    size_t first, count;
    size_t kept; /* number of these; the last of them is made again, to be compared */
    long seed;
    db_plan_options options;
    db_noise_options noise;
    int turns;
    output out[OUTPUTS];
    db_progress_bar bar;
    double begin;
    atomic_int stopped; /* a db_status: of the first shot that failed */
    size_t written;
} shots_run;

/* The plans and images of one thread. */
typedef struct worker {
    db_context *context;
    db_plan *plan;
    float *image;
    /* the crystal alone, of sampled spots where something else scatters, too; NULL */
    db_plan *crystal_plan;
    float *crystal;
    float *wavelength; /* NULL: not wanted */
    int32_t *number;
    double tolerance; /* of the plans */
} worker;

/* Edges that are equal stay so. */
static void vary_cell(const shots_run *r, size_t number, db_crystal *crystal) {
    const double jitter = r->session->settings.cell_jitter;
    double factor[3];
    for (int i = 0; i < 3; i++) {
        factor[i] = 1 + jitter * db_chance_normal(r->seed, number, DB_CHANCE_CELL, (uint64_t)i);
        for (int k = i - 1; k >= 0; k--)
            if (crystal->cell[k] == crystal->cell[i]) factor[i] = factor[k];
    }
    for (int i = 0; i < 3; i++) crystal->cell[i] *= fmax(factor[i], 0.5);
}

static db_status vary(const shots_run *r, worker *w, db_shot *s) {
    const db_settings *const settings = &r->session->settings;
    db_beam *const beam = &s->experiment.beam;
    if (settings->cell_jitter > 0) vary_cell(r, s->number, &s->experiment.crystal);
    if (settings->fluence_jitter > 0)
        beam->fluence *= exp(settings->fluence_jitter *
                             db_chance_normal(r->seed, s->number, DB_CHANCE_FLUENCE, 0));
    if (settings->wavelength_jitter > 0)
        beam->wavelength *=
            fmax(0.5, 1 + settings->wavelength_jitter *
                              db_chance_normal(r->seed, s->number, DB_CHANCE_WAVELENGTH, 0));
    if (!(settings->sase[0] > 0)) return DB_OK;
    return db_experiment_set_sase(w->context, &s->experiment, settings->sase[0], settings->sase[1],
                                  r->seed, s->number);
}

static db_status prepare_shots(const shots_run *r, worker *w, db_shot *s) {
    db_setup setup = r->session->settings.setup;
    long seed = 0;
    setup.misset_seed = db_chance_seed(r->seed, s->number, DB_CHANCE_ORIENTATION);
    if (!r->list.path) setup.misset_random = 1;
    DB_TRY(db_shot_list_apply(w->context, &r->list, s->number, &setup, &seed, s->owned));
    setup.hkl_file = setup.cache_file = setup.stol_file = setup.sites = NULL; /* read already */
    s->label.noise_seed =
        seed ? (uint32_t)seed
             : (uint32_t)(db_chance_bits(r->seed, 0, DB_CHANCE_NOISE, 0) + s->number);
    DB_TRY(db_setup_resolve(w->context, &setup, &s->experiment, NULL, NULL));
    db_shot_lend(&r->session->experiment, &s->experiment);
    return vary(r, w, s);
}

static int shot_turns(const db_experiment *e) {
    return e->goniometer.phi_step * e->goniometer.phi_steps != 0;
}

/* Whether a file that begins with one beam has room for the other's wavelengths. */
static int is_alike(const db_beam *first, const db_beam *other) {
    return db_beam_has_wavelengths(first) ? other->source_count == first->source_count
                                          : !db_beam_has_wavelengths(other);
}

/* Prepares the shots of a list before the first one is rendered: the last line may be the one that is wrong. */
static db_status check_list(const shots_run *r) {
    db_context *const context = r->session->context;
    worker w = { .context = context };
    db_shot first = { .number = r->first };
    db_status status = prepare_shots(r, &w, &first);
    size_t at = 0;
    while (status == DB_OK && ++at < r->count) {
        db_shot s = { .number = r->first + at };
        status = prepare_shots(r, &w, &s);
        if (status == DB_OK && shot_turns(&s.experiment) != shot_turns(&first.experiment))
            status = db_fail(context, DB_ERROR_INPUT,
                             "expected stills or rotations alone in one file, found both");
        if (status == DB_OK && !is_alike(&first.experiment.beam, &s.experiment.beam))
            status = db_fail(context, DB_ERROR_INPUT,
                             "expected as many wavelengths as the first shot has, found %zu",
                             s.experiment.beam.source_count);
        db_shot_clear(&s);
    }
    db_shot_clear(&first);
    if (status == DB_OK) return DB_OK;
    return db_fail(context, status, "shot %zu: %s", r->first + at + 1, db_context_message(context));
}

/* The photons that a pixel of a shot may lack. If the tolerance was chosen from the command line's spots, it
 * follows the shot's brightness in steps of 2, so that shots of about equal brightness share their plan. */
static double tolerance_for(const shots_run *r, const db_experiment *shot) {
    const double chosen_at = r->session->settings.tolerance_chosen_at,
                 brightness = shot->beam.fluence * shot->beam.scale;
    if (!(chosen_at > 0 && brightness > 0)) return r->options.tolerance;
    return r->options.tolerance * exp2(floor(log2(brightness / chosen_at)));
}

static db_status render_with(const shots_run *r, worker *w, const db_experiment *experiment,
                             db_plan **plan, float *image) {
    db_plan_options options = r->options;
    options.tolerance = tolerance_for(r, experiment);
    if (options.tolerance != w->tolerance) {
        db_plan_destroy(&w->plan);
        db_plan_destroy(&w->crystal_plan);
        w->tolerance = options.tolerance;
    }
    db_status status = *plan ? db_plan_update(*plan, experiment) : DB_ERROR_USAGE;
    if (status == DB_ERROR_USAGE) { /* the first one, or other numbers of sources and the like */
        db_plan_destroy(plan);
        status = db_plan_create(w->context, experiment, &options, plan);
    }
    if (status == DB_OK) status = db_plan_forward(*plan, image);
    if (status == DB_OK) db_session_apply_mask(r->session, image);
    return status;
}

static int has_background(const db_experiment *e) {
    return e->background.water_size != 0 || e->background.count != 0;
}

/* Lists the reflections of a shot and their places. */
static db_status list_spots(const shots_run *r, worker *w, db_shot *s) {
    if (s->experiment.spread.spots == DB_SPOTS_CLOSED)
        return db_spots_predict(w->context, &s->experiment, NULL, &s->spots);
    if (!has_background(&s->experiment))
        return db_spots_of_image(w->context, &s->experiment, w->image, NULL, &s->spots);
    db_experiment alone = s->experiment; /* borrows its lists */
    alone.background.water_size = 0;
    alone.background.count = 0;
    if (!w->crystal) w->crystal = db_image_buffer(&r->session->sheet, &r->session->region);
    if (!w->crystal) return db_fail_memory(w->context, "the image of a crystal alone");
    DB_TRY(render_with(r, w, &alone, &w->crystal_plan, w->crystal));
    return db_spots_of_image(w->context, &alone, w->crystal, NULL, &s->spots);
}

static db_status render_one(const shots_run *r, worker *w, db_shot *s) {
    DB_TRY(render_with(r, w, &s->experiment, &w->plan, w->image));
    const size_t count =
        (size_t)r->session->sheet.fast_pixels * (size_t)r->session->sheet.slow_pixels;
    for (size_t i = 0; i < count; i++) s->label.photons += (double)w->image[i];
    if (isfinite(s->label.photons)) return DB_OK;
    return db_fail(w->context, DB_ERROR_INPUT,
                   "pixels are beyond the 3.4e38 that 32-bit floats hold");
}

static db_status add_noise(const shots_run *r, worker *w, db_shot *s, size_t count) {
    db_noise_options options = r->noise;
    db_noise_summary summary;
    options.seed = s->label.noise_seed;
    DB_TRY(db_noise_make(w->context, &options, &s->experiment.detector, &r->session->region,
                         w->image, w->number, NULL, &summary));
    s->label.flicker = summary.flicker;
    db_noise_narrow(&options, w->number, count);
    return db_pack_bitshuffle(w->context, r->out[NOISY].path, w->number, count,
                              (size_t)options.bits / 8, &s->packed[NOISY]);
}

static db_status add_wavelengths(const shots_run *r, worker *w, db_shot *s, size_t count) {
    DB_TRY(db_plan_mean_wavelength(w->plan, w->wavelength));
    db_session_apply_mask(r->session, w->wavelength);
    return db_pack_bitshuffle(w->context, r->out[WAVELENGTHS].path, w->wavelength, count,
                              sizeof *w->wavelength, &s->packed[WAVELENGTHS]);
}

static db_status make_shot(const shots_run *r, worker *w, db_shot *s) {
    const size_t count =
        (size_t)r->session->sheet.fast_pixels * (size_t)r->session->sheet.slow_pixels;
    DB_TRY(prepare_shots(r, w, s));
    DB_TRY(render_one(r, w, s));
    if (r->out[PHOTONS].path)
        DB_TRY(db_pack_bitshuffle(w->context, r->out[PHOTONS].path, w->image, count,
                                  sizeof *w->image, &s->packed[PHOTONS]));
    if (r->out[WAVELENGTHS].path) DB_TRY(add_wavelengths(r, w, s, count));
    if (r->out[NOISY].path) DB_TRY(add_noise(r, w, s, count));
    return r->session->settings.no_reflections ? DB_OK : list_spots(r, w, s);
}

/* Begins a file, or continues it, for images like the first shot's. */
static db_status begin_file(shots_run *r, output *out, const db_shot *s) {
    DB_TRY((r->kept ? db_nexus_resume : db_nexus_create)(
        r->session->context, out->path, &s->experiment, &out->format, &out->writer));
    return db_nexus_labels_create(out->writer, !r->session->settings.no_reflections, &out->labels);
}

/* The shot that the files end with. */
static db_status compare_shot(shots_run *r, const db_shot *s) {
    for (int i = 0; i < OUTPUTS; i++) {
        output *const out = &r->out[i];
        if (!out->path) continue;
        DB_TRY(begin_file(r, out, s));
        DB_TRY(db_nexus_expect_last(out->writer, &s->packed[i]));
    }
    r->turns = shot_turns(&s->experiment);
    r->written = r->kept;
    return DB_OK;
}

static db_status write_shot(shots_run *r, const db_shot *s) {
    if (r->kept && r->written == 0) return compare_shot(r, s);
    if (r->written == 0) r->turns = shot_turns(&s->experiment);
    if (shot_turns(&s->experiment) != r->turns)
        return db_fail(r->session->context, DB_ERROR_INPUT,
                       "expected stills or rotations alone in one file, found both");
    for (int i = 0; i < OUTPUTS; i++) {
        output *const out = &r->out[i];
        if (!out->path) continue;
        db_shot_label label = s->label;
        if (i != NOISY) label.flicker = 1;
        if (!out->writer) DB_TRY(begin_file(r, out, s));
        DB_TRY(db_nexus_append(out->writer, &s->experiment, &s->packed[i]));
        DB_TRY(db_nexus_labels_append(out->labels, &s->experiment, &label));
    }
    r->written++;
    return DB_OK;
}

/* Writes a shot; called in the order of shots, one thread at a time. */
static void deliver_shot(shots_run *r, db_shot *s) {
    db_context *const context = r->session->context;
    if (atomic_load(&r->stopped) != DB_OK) return;
    if (db_interrupt_asked() && r->written) {
        atomic_store(&r->stopped, (int)DB_ERROR_CANCELLED);
        return;
    }
    s->label.spots = r->session->settings.no_reflections ? NULL : &s->spots;
    db_status status = s->status;
    if (status == DB_OK) {
        status = write_shot(r, s);
        if (status != DB_OK)
            snprintf(s->reason, sizeof s->reason, "%s", db_context_message(context));
    }
    if (status != DB_OK) {
        db_record_message(context, "shot %zu: %s", s->number + 1, s->reason);
        atomic_store(&r->stopped, (int)status);
        return;
    }
    db_progress_bar_draw(&r->bar, (double)r->written / (double)r->count, "of %zu shots", r->count);
}

static void render_shot(shots_run *r, worker *w, size_t number, db_shot *s) {
    *s = (db_shot){ .number = number, .label = { .number = (int64_t)number + 1, .flicker = 1 } };
    if (atomic_load(&r->stopped) != DB_OK) return;
    s->status = make_shot(r, w, s);
    if (s->status != DB_OK)
        snprintf(s->reason, sizeof s->reason, "%s", db_context_message(w->context));
    db_crystal_misset(&s->experiment.crystal, s->label.misset);
}

static void work_on_shots(shots_run *r, worker *w, size_t number) {
    db_shot s;
    render_shot(r, w, number, &s);
#pragma omp ordered
    deliver_shot(r, &s);
    db_shot_clear(&s);
}

/* The number in this run, from 0, of the first shot to render. */
static size_t first_to_make(const shots_run *r) { return r->kept ? r->kept - 1 : 0; }

/* The shots of one process; each is written as soon as those before it are. */
static db_status render_alone(shots_run *r, worker *each, int workers) {
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(workers) if (workers > 1)
    for (size_t i = first_to_make(r); i < r->count; i++)
        work_on_shots(r, &each[workers > 1 ? db_thread_number() : 0], r->first + i);
    return (db_status)atomic_load(&r->stopped);
}

/* Renders this process's share of `count` shots from number `at` on; returns their number. */
static size_t render_own(shots_run *r, worker *each, int workers, size_t at, size_t count,
                         db_shot *own) {
    const size_t rank = (size_t)r->all->rank, size = (size_t)r->all->size,
                 mine = count > rank ? (count - rank + size - 1) / size : 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers) if (workers > 1)
    for (size_t k = 0; k < mine; k++)
        render_shot(r, &each[workers > 1 ? db_thread_number() : 0], at + k * size + rank, &own[k]);
    return mine;
}

/* The first process writes the shots of all processes, in their order. */
static void collect_shots(shots_run *r, size_t count, db_shot *own) {
    const size_t size = (size_t)r->all->size;
    for (size_t i = 0; i < count; i++) {
        db_shot *const s = &own[i / size];
        if (i % size) {
            db_shot other;
            db_shot_receive((int)(i % size), &r->session->experiment, &other);
            deliver_shot(r, &other);
            db_shot_clear(&other);
        } else {
            deliver_shot(r, s);
        }
    }
}

/* Renders in rounds; after each, all processes agree whether to continue. */
static db_status render_together(shots_run *r, worker *each, int workers) {
    enum { A_THREAD = 4 };
    const size_t mine = A_THREAD * (size_t)workers;
    db_shot *const own = malloc(mine * sizeof *own);
    db_status status = db_processes_agree(
        r->all, own ? DB_OK : db_fail_memory(r->session->context, "the shots of a round"));
    const size_t round = mine * (size_t)r->all->size;
    for (size_t at = first_to_make(r); at < r->count && status == DB_OK && own; at += round) {
        const size_t count = r->count - at < round ? r->count - at : round;
        const size_t made = render_own(r, each, workers, r->first + at, count, own);
        int sent = 1;
        if (r->all->rank == 0) collect_shots(r, count, own);
        for (size_t k = 0; k < made; k++) {
            if (r->all->rank > 0) sent = db_shot_send(&own[k]) && sent;
            db_shot_clear(&own[k]);
        }
        status = db_processes_agree(r->all,
                                    sent ? (db_status)atomic_load(&r->stopped) : DB_ERROR_DEVICE);
    }
    free(own);
    return status;
}

static db_status open_worker(const shots_run *r, int threads, worker *w) {
    const db_session *const session = r->session;
    const db_settings *const s = &session->settings;
    const size_t count = (size_t)session->sheet.fast_pixels * (size_t)session->sheet.slow_pixels;
    db_status status = db_context_create(&w->context);
    if (status == DB_OK) status = db_context_set_threads(w->context, threads);
    if (status == DB_OK && s->isa) status = db_context_set_isa(w->context, s->isa);
    if (status == DB_OK && s->device) status = db_context_set_device(w->context, s->device);
    if (status != DB_OK)
        return db_fail(session->context, status, "%s", db_context_message(w->context));
    w->image = db_image_buffer(&session->sheet, &session->region);
    w->number = r->out[NOISY].path ? malloc(count * sizeof *w->number) : NULL;
    if (r->out[WAVELENGTHS].path)
        w->wavelength = db_image_buffer(&session->sheet, &session->region);
    if (w->image && (w->number || !r->out[NOISY].path) &&
        (w->wavelength || !r->out[WAVELENGTHS].path))
        return DB_OK;
    return db_fail_memory(session->context, "the images of all threads");
}

static void close_worker(worker *w) {
    db_plan_destroy(&w->plan);
    db_plan_destroy(&w->crystal_plan);
    db_context_destroy(&w->context);
    free(w->image);
    free(w->crystal);
    free(w->wavelength);
    free(w->number);
}

/* A shot a thread: threads that share a shot wait for each other. Few shots are shared by all of them. On a
 * device, too: one thread's shot is packed while others' are rendered. */
static db_status render_all(shots_run *r, db_status status) {
    const int threads = db_threads(r->session->context);
    const int alone = r->count < (size_t)threads;
    const int workers = alone ? 1 : threads;
    worker *const each = calloc((size_t)workers, sizeof *each);
    if (!each && status == DB_OK)
        status = db_fail_memory(r->session->context, "the threads of a training set");
    for (int i = 0; i < workers && status == DB_OK; i++)
        status = open_worker(r, alone ? r->session->settings.threads : 1, &each[i]);
    r->failed_here = status != DB_OK;
    status = db_processes_agree(r->all, status);
    if (status == DB_OK && each)
        status =
            r->all->size > 1 ? render_together(r, each, workers) : render_alone(r, each, workers);
    for (int i = 0; each && i < workers; i++) close_worker(&each[i]);
    free(each);
    return status;
}

/* --range FIRST LAST, of all that there are. */
static db_status choose_range(shots_run *r) {
    const db_settings *const s = &r->session->settings;
    const size_t all = r->list.path ? r->list.count : (size_t)s->random_shots;
    r->first = 0;
    r->count = all;
    if (!s->range[0]) return DB_OK;
    if (s->range[0] < 1 || s->range[1] < s->range[0] || (size_t)s->range[1] > all)
        return db_fail(r->session->context, DB_ERROR_INPUT,
                       "--range: expected two numbers of shots from 1 to %zu, found %d %d", all,
                       s->range[0], s->range[1]);
    r->first = (size_t)s->range[0] - 1;
    r->count = (size_t)s->range[1] - r->first;
    return DB_OK;
}

/* Counts the shots in the files of an earlier run. */
static db_status count_kept(shots_run *r) {
    const db_settings *const s = &r->session->settings;
    const char *first = NULL;
    for (int i = 0; i < OUTPUTS && s->resume; i++) {
        size_t count;
        if (!r->out[i].path) continue;
        DB_TRY(db_nexus_count_images(r->session->context, r->out[i].path, &count));
        if (first && count != r->kept)
            return db_fail(r->session->context, DB_ERROR_INPUT,
                           "%s: expected %zu shots, as in %s, found %zu", r->out[i].path, r->kept,
                           first, count);
        if (!first) first = r->out[i].path;
        r->kept = count;
    }
    if (r->kept > r->count)
        return db_fail(r->session->context, DB_ERROR_INPUT,
                       "--resume: expected at most %zu shots in a file to continue, found %zu",
                       r->count, r->kept);
    if (s->resume && !s->quiet)
        printf(r->kept ? "continuing after %zu of %zu shots\n"
                       : "no files to continue: starting again\n",
               r->kept, r->count);
    return DB_OK;
}

static db_status open_run(db_session *session, const db_processes *all, shots_run *r) {
    const db_settings *const s = &session->settings;
    *r = (shots_run){ .session = session, .all = all, .seed = s->seed ? s->seed : 1 };
    r->noise = db_noise_options_of(s, &session->experiment);
    r->out[PHOTONS].path = s->hdf5_file ? s->hdf5_file : s->float_file;
    r->out[PHOTONS].format = db_photon_format(session);
    r->out[NOISY].path = db_noise_wanted(s) ? s->noise_file : NULL;
    r->out[NOISY].format = db_noise_format(session, &r->noise);
    r->out[WAVELENGTHS].path = s->wavelength_file;
    r->out[WAVELENGTHS].format = db_photon_format(session);
    if (s->shots_file) {
        DB_TRY(db_shot_list_read(session->context, s->shots_file, &r->list));
        DB_TRY(db_shot_list_check(session->context, &r->list, &s->setup));
        db_notices_print_rest(&session->notices);
    }
    DB_TRY(choose_range(r));
    if (r->list.path && all->rank == 0) DB_TRY(check_list(r));
    return count_kept(r);
}

/* Several processes end at once, as their launcher wants it. */
static void note_signals(void) {
    static const char note[] =
        "\ndualbragg sim: interrupted; ends with the shots that are written (again: at once)\n";
    db_interrupt_install(SIGINT, note);
    db_interrupt_install(SIGTERM, note);
}

static void tell_shot(const shots_run *r) {
    const double time = db_stopwatch() - r->begin;
    if (r->session->settings.quiet) return;
    for (int i = 0; i < OUTPUTS; i++)
        if (r->out[i].path)
            db_shown_print(stdout, "%zu shots in %s%s\n", r->written, db_shown_path(r->out[i].path),
                           i == NOISY         ? ", with noise"
                           : i == WAVELENGTHS ? ", mean wavelengths"
                                              : "");
    printf("%.3f s, %.4g shots/s\n", time, (double)(r->written - r->kept) / time);
    if (r->written < r->count)
        printf("%zu of %zu shots are left: continue with --resume\n", r->count - r->written,
               r->count);
}

db_status db_shots_run(db_session *session, const db_processes *all) {
    shots_run r;
    db_status status = open_run(session, all, &r);
    r.options = (db_plan_options)DB_PLAN_OPTIONS_INIT;
    r.options.regions = session->regions;
    r.options.region_count = session->region_count;
    r.options.tolerance = session->settings.tolerance;
    if (status == DB_OK) status = db_session_choose_precision(session, &r.options);
    if (all->size == 1) note_signals();
    r.begin = db_stopwatch();
    db_progress_bar_start(&r.bar, session->settings.progress != 0 && !session->settings.quiet);
    status = render_all(&r, status);
    db_progress_bar_clear(&r.bar);
    const int interrupted = status == DB_ERROR_CANCELLED && db_interrupt_asked();
    if (interrupted) status = DB_OK;
    for (int i = 0; i < OUTPUTS; i++) {
        db_nexus_labels_destroy(&r.out[i].labels);
        status = db_nexus_finish(&r.out[i].writer, status);
    }
    if (status == DB_OK) tell_shot(&r);
    if (status == DB_OK && interrupted) {
        fflush(stdout);
        db_end_by_signal(db_interrupt_asked());
    }
    db_shot_list_clear(&r.list);
    /* only one process reports the failure */
    if (status == DB_OK || (all->rank > 0 && !r.failed_here)) return status;
    return db_session_complain(session, status);
}
