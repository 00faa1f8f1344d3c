/* dualbragg add: sums of images. */
#include "cli/add_options.h"
#include "cli/command.h"
#include "cli/complaint.h"
#include "cli/output.h"
#include "cli/standard_streams.h"

#include <stdio.h>

static void report_images(const db_add_options *options) {
    for (size_t i = 0; i < options->count; i++) {
        const db_summand *s = &options->summands[i];
        printf("image %zu: %s", i + 1, s->path);
        if (s->factor != 1) printf(" x %g", s->factor);
        if (s->offset != 0) printf(" %+g", s->offset);
        fputc('\n', stdout);
    }
}

/* In the form of float_add where it says the same. */
static void report_statistics(const db_add_options *options, const db_sum_statistics *s) {
    if (options->sum.ignore_count)
        printf("%zu invalid of %zu pixels ( %zu left)\n", s->ignored, s->pixels,
               s->pixels - s->ignored);
    else
        printf("%zu pixels\n", s->pixels);
    if (s->not_finite) printf("%zu pixels are infinite or not numbers\n", s->not_finite);
    printf("max = %g min = %g\n", s->largest, s->smallest);
    printf("mean = %g rms = %g rmsd = %g\n", s->mean, s->rms, s->rmsd);
    if (options->count > 1) printf("CC = %.12g\n", s->correlation);
}

static db_status check_files(db_add_options *options) {
    for (size_t i = 0; i < options->count; i++)
        db_named_files_add(&options->files, DB_ROLE_INPUT, "image", options->summands[i].path);
    db_named_files_add(&options->files, DB_ROLE_OUTPUT, "-o", options->output);
    db_named_files_add_printed(&options->files);
    db_status status = db_named_files_check("add", &options->files);
    if (status == DB_OK) status = db_output_check_image("add", "-o", options->output);
    for (size_t i = 0; i < options->count && status == DB_OK; i++)
        status = db_streams_take_input("add", "image", options->summands[i].path);
    return status == DB_OK ? db_streams_give_output("add", "-o", &options->output) : status;
}

static db_status add(db_context *context, db_add_options *options) {
    db_sum_statistics statistics;
    db_status status = check_files(options);
    if (status != DB_OK) return status;
    if (!options->quiet) report_images(options);
    status = db_add_float_images(context, options->summands, options->count, &options->sum,
                                 options->output, &statistics);
    if (status != DB_OK) return db_complain_context("add", status, context);
    if (options->quiet) return DB_OK;
    if (options->statistics) report_statistics(options, &statistics);
    printf("wrote %s as a %zu-byte header with %zu 4-byte floats\n",
           db_streams_shown(options->output), options->sum.header, statistics.pixels);
    return DB_OK;
}

int db_command_add(int argc, char **argv) {
    db_add_options options;
    db_context *context = NULL;
    db_status status = db_add_options_read(&options, argc, argv);
    if (status == DB_OK && options.help) {
        db_add_help(stdout);
    } else if (status == DB_OK) {
        status = db_context_create(&context);
        status =
            status == DB_OK ? add(context, &options) : db_complain_context("add", status, context);
    }
    db_context_destroy(&context);
    db_add_options_clear(&options);
    return db_status_exit_code(status);
}
