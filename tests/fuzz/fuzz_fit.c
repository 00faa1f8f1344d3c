/* Readers of the refinement. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#if defined(DB_HAVE_FIT)
#include "fit/shots/checkpoint.h"
#include "fit/shots/checkpoint_parts.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/fit_steps.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A configuration that is right, in a file that stays while the program runs. */
static const char configuration[] = "model: {cell: [40, 55, 70, 90, 90, 90], phi: 0}\n"
                                    "refine: {misset_x: , distance: {range: 1}}\n"
                                    "stages:\n"
                                    "  - {name: alone, refine: [misset_x]}\n"
                                    "  - {name: all, refine: [misset_x, distance]}\n";

static void check_config(const db_fit_config *config) {
    const db_fit_settings *const s = &config->settings;
    fuzz_require(s->parameter_count <= DB_FIT_MOST_PARAMETERS, "configuration", "parameters");
    for (size_t i = 0; i < s->parameter_count; i++) {
        const int q = db_fit_quantity_of(&s->parameters[i]).number;
        fuzz_require(q >= 0 && q < DB_FIT_MOST_PARAMETERS, "configuration", "quantity");
        fuzz_require(s->parameters[i].follows.number < DB_FIT_MOST_PARAMETERS, "configuration",
                     "tie");
    }
    fuzz_require(memchr(config->output_prefix, 0, sizeof config->output_prefix) != NULL,
                 "configuration", "output");
    fuzz_require(isnan(s->gain) || s->gain > 0, "configuration", "gain");
}

/* As a file, and its first line as an argument KEY=VALUE. */
static void read_configuration(db_context *context, const char *path) {
    static db_fit_config config;
    if (fuzz_is_ok(context, path, db_fit_config_read(context, path, NULL, 0, &config),
                   "configuration"))
        check_config(&config);
}

static const char *base_file(void) {
    static char name[64];
    if (*name) return name;
    snprintf(name, sizeof name, "fuzz-base-%ld.yaml", (long)getpid());
    FILE *const file = fopen(name, "w");
    fuzz_require(file && fputs(configuration, file) >= 0 && fclose(file) == 0, "base", name);
    return name;
}

static void remove_base(void) { unlink(base_file()); }

static const db_fit_config *base(db_context *context) {
    static db_fit_config config;
    static int there;
    if (!there) {
        const db_status status = db_fit_config_read(context, base_file(), NULL, 0, &config);
        fuzz_require(status == DB_OK, "base", db_context_message(context));
        there = 1;
        atexit(remove_base);
    }
    return &config;
}

static void read_argument(db_context *context, const char *path) {
    static db_fit_config config;
    char line[4096] = "";
    (void)base(context);
    FILE *const file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file)) line[strcspn(line, "\n")] = '\0';
    if (file) fclose(file);
    const char *const argument = line;
    if (db_fit_config_read(context, base_file(), &argument, 1, &config) == DB_OK)
        check_config(&config);
    else
        fuzz_require(*db_context_message(context) != '\0', "argument", "no message");
}

/* A list of shots, and the configuration of each. */
static void read_shots_of(db_context *context, const char *list) {
    static db_fit_config all, one;
    enum { MOST = 20 };
    db_fit_shot_list *shots = NULL;
    all = *base(context);
    snprintf(all.shot_list, sizeof all.shot_list, "%s", list);
    const db_status status = db_fit_shot_list_read(context, &all, NULL, 0, &shots);
    fuzz_require((status == DB_OK) == (shots != NULL), "shots", "list");
    if (fuzz_is_ok(context, list, status, "shots")) {
        const db_fit_shot_source source = db_fit_shot_list_source(shots);
        fuzz_require(source.count > 0, "shots", "none");
        for (size_t i = 0; i < source.count && i < MOST; i++) {
            fuzz_require(source.name(source.user, i) != NULL, "shots", "name");
            if (fuzz_is_ok(context, list, db_fit_shot_list_config(context, shots, i, &one), "shot"))
                check_config(&one);
        }
    }
    db_fit_shot_list_destroy(&shots);
}

static void read_shots(db_context *context, const char *path) { read_shots_of(context, path); }

/* The file as an experiment list that names the shots. */
static void read_shots_expt(db_context *context, const char *path) {
    char name[300];
    snprintf(name, sizeof name, "%.280s.expt", path);
    fuzz_require(rename(path, name) == 0, "rename", name);
    read_shots_of(context, name);
    fuzz_require(rename(name, path) == 0, "rename", path);
}

static const char *shot_name(void *user, size_t shot) {
    static const char *const names[] = { "a.cbf", "b.cbf" };
    (void)user;
    return names[shot];
}

enum { SHOTS = 2 };

/* Two shots that are to go on from a checkpoint, which is the caller's. */
static void make_shots(db_context *context, db_checkpoint *checkpoint, db_shots *all) {
    static db_shot_summary summary[SHOTS];
    static db_shot_state state[SHOTS];
    static double numbers[5 * SHOTS * DB_FIT_MOST_PARAMETERS];
    static char identity[] = "model:\n  shape: gauss\n";
    memset(all, 0, sizeof *all);
    memset(summary, 0, sizeof summary);
    memset(state, 0, sizeof state);
    memset(checkpoint, 0, sizeof *checkpoint);
    checkpoint->file = -1;
    snprintf(checkpoint->run, sizeof checkpoint->run, "run");
    all->context = context;
    all->team.size = 1;
    all->settings = base(context)->settings;
    all->parameters = all->course.width = all->settings.parameter_count;
    for (size_t i = 0; i < all->parameters; i++)
        all->shared[i] = db_fit_parameter_is_shared(&all->settings.parameters[i]) != 0;
    all->count = SHOTS;
    all->summary = summary;
    all->state = state;
    all->numbers = numbers;
    checkpoint->identity = identity;
    all->checkpoint = checkpoint;
}

/* Gives whole blocks of a file the digests of their bytes: what is behind digests is to be read, too. */
static void seal_blocks(const char *path) {
    static char bytes[1 << 20];
    db_block_head head;
    FILE *const file = fopen(path, "r+b");
    fuzz_require(file != NULL, "seal", path);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    for (size_t at = 0; db_block_head_in(bytes + at, size - at, &head);) {
        db_pieces block = { .bytes = bytes + at, .count = sizeof head + (size_t)head.bytes };
        char name[sizeof head.name];
        memcpy(name, head.name, sizeof name);
        db_block_end(&block, name, head);
        at += block.count;
    }
    rewind(file);
    fuzz_require(fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "seal", path);
}

/* What the search of a stage knew. */
typedef struct search_state {
    db_shots *all;
    int stage;
    db_search_log log;
} search_state;

static db_status move_search(void *user, db_pieces *pieces) {
    search_state *const s = user;
    return db_checkpoint_move_log(s->all, s->stage, 1, &s->log, pieces);
}

static void take_up_search(db_context *context, const char *path, db_shots *all) {
    search_state s = { all, all->checkpoint->stage - 1, { .stage = -1 } };
    const db_stage_state state = { "stage:search", s.stage, 0, move_search, NULL, &s };
    if (fuzz_is_ok(context, path, db_checkpoint_take_up(all, &state), "checkpoint search"))
        fuzz_require(s.log.stage == s.stage && s.log.count <= s.log.room, "checkpoint", "log");
    db_search_log_clear(&s.log);
}

static void read_checkpoint(db_context *context, const char *path) {
    static db_shots all;
    static db_checkpoint checkpoint;
    const db_fit_shots_options options = { .checkpoint = path, .resume = 1 };
    const db_fit_shot_source source = { .count = SHOTS, .name = shot_name };
    int found;
    make_shots(context, &checkpoint, &all);
    all.source = &source;
    all.options = &options;
    const db_status status = db_checkpoint_resume(&all, &found);
    fuzz_require(found == (status == DB_OK), "checkpoint", "found");
    fuzz_require(checkpoint.generation < INT_MAX, "checkpoint", "no next generation");
    if (fuzz_is_ok(context, path, status, "checkpoint"))
        fuzz_require(checkpoint.stage >= 0 && checkpoint.stage <= (int)all.settings.stage_count,
                     "checkpoint", "stage");
    if (status == DB_OK && checkpoint.stage > 0) take_up_search(context, path, &all);
    free(checkpoint.set);
    free(checkpoint.place);
    free(checkpoint.state);
    db_fit_course_clear(&all.course);
}

static void read_sealed_checkpoint(db_context *context, const char *path) {
    seal_blocks(path);
    read_checkpoint(context, path);
}

/* The file as a part of a checkpoint: the records of the shots. */
static void read_part(db_context *context, const char *path) {
    static db_shots all;
    static db_checkpoint checkpoint;
    const db_fit_shots_options options = { .checkpoint = path };
    const db_fit_shot_source source = { .count = SHOTS, .name = shot_name };
    char name[300];
    make_shots(context, &checkpoint, &all);
    all.source = &source;
    all.options = &options;
    db_part_set set = { .generation = 1, .count = 1 };
    snprintf(set.of, sizeof set.of, "%.250s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    snprintf(name, sizeof name, "%.280s.1.0", path);
    fuzz_require(rename(path, name) == 0, "rename", name);
    db_status status = db_parts_add(&all, path, &set);
    if (status == DB_OK) status = db_parts_index(&all);
    for (size_t i = 0; i < SHOTS && status == DB_OK; i++)
        status = db_checkpoint_take(&all, context, i);
    if (fuzz_is_ok(context, name, status, "part"))
        for (int i = 0; i < SHOTS; i++)
            fuzz_require(all.summary[i].stage >= 0 &&
                             all.summary[i].stage <= (int)all.settings.stage_count,
                         "part", "stage");
    fuzz_require(rename(name, path) == 0, "rename", path);
    free(checkpoint.set);
    free(checkpoint.place);
}

static void read_sealed_part(db_context *context, const char *path) {
    seal_blocks(path);
    read_part(context, path);
}

const fuzz_reader fuzz_fit_readers[] = {
    { "configuration", read_configuration },
    { "argument", read_argument },
    { "shots", read_shots },
    { "shots_expt", read_shots_expt },
    { "checkpoint", read_checkpoint },
    { "checkpoint_part", read_part },
    { "checkpoint_sealed", read_sealed_checkpoint },
    { "checkpoint_part_sealed", read_sealed_part },
    { NULL, NULL },
};
#else
const fuzz_reader fuzz_fit_readers[] = { { NULL, NULL } };
#endif
