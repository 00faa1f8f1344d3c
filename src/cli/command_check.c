/* dualbragg check: are the derivatives right on this set-up? */
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/parameter_list.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/stopwatch.h"
#include "engine/gradient_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHECK_FAILED = 1 };

static const char *verdict(const db_gradient_check_row *row) {
    static const char *const words[] = { [DB_CHECK_OK] = "ok",
                                         [DB_CHECK_DIFFERS] = "DIFFERS",
                                         [DB_CHECK_TOO_ROUGH] = "TOO ROUGH",
                                         [DB_CHECK_NOT_COMPARED] = "NOT COMPARED" };
    return words[row->verdict];
}

/* A number, or a dash if it is not finite. */
static const char *text_of(double value, char text[32]) {
    if (isnan(value))
        snprintf(text, 32, "-");
    else
        snprintf(text, 32, "%.2g", value);
    return text;
}

static void print_row(const db_gradient_check_row *row) {
    const int image = row->parameter == DB_PARAMETER_COUNT;
    const db_parameter_info *info = image ? NULL : db_parameter_describe(row->parameter);
    char name[DB_LISTED_NAME] = "(the image)", unit[16] = "", value[5][32];
    if (!image) {
        db_parameter_name(row->parameter, name, sizeof name);
        snprintf(unit, sizeof unit, "/%s", info->unit);
    }
    printf("%-21s %10.3g %-6s %9s %9s %9s %9s %9s %7zu %7zu  %s\n", name, row->largest, unit,
           text_of(row->contraction, value[0]), text_of(row->rounding, value[1]),
           text_of(row->mixed, value[2]), text_of(row->difference, value[3]),
           text_of(row->difference_error, value[4]), row->compared, row->excluded, verdict(row));
}

static void print_table(const db_gradient_check_row *rows, size_t count) {
    printf("%-21s %17s %9s %9s %9s %9s %9s %7s %7s\n", "parameter", "largest |dI/dp|", "kernels",
           "bound", "mixed", "oracle -", "error of", "pixels", "pixels");
    printf("%-21s %17s %9s %9s %9s %9s %9s %7s %7s  %s\n", "", "(photons/unit)", "- oracle",
           "of it", "- oracle", "fin.diff.", "fin.diff.", "compar.", "at kink", "verdict");
    for (size_t k = 0; k < count; k++) print_row(&rows[k]);
}

static void print_reasons(const db_gradient_check_row *rows, size_t count) {
    for (size_t k = 0; k < count; k++) {
        char name[DB_LISTED_NAME] = "the image";
        if (rows[k].verdict == DB_CHECK_OK) continue;
        if (rows[k].parameter != DB_PARAMETER_COUNT)
            db_parameter_name(rows[k].parameter, name, sizeof name);
        printf("%s: %s: %s\n", name, verdict(&rows[k]), rows[k].failed);
    }
}

static void print_extent(const db_gradient_check_extent *x, size_t parameters) {
    printf("pixels: %.0f of %.0f, finite differences in %.0f of them by %zu of %zu parameters%s\n",
           x->tried, x->pixels, x->differenced, x->parameters_differenced, parameters,
           x->differenced < x->pixels || x->parameters_differenced < parameters
               ? "; --all: all of them"
               : "");
    if (x->without_samples)
        printf("with a tolerance of %.3g photons, pixels lack up to %.3g photons\n", x->tolerance,
               x->lacking);
}

static db_status list_parameters(db_session *session, const db_gradient_check_options *options,
                                 db_parameter_list *list) {
    const db_settings *settings = &session->settings;
    const char *const wanted = settings->parameters ? settings->parameters : "all";
    const db_status status = db_parameter_list_read(settings->command, session->context,
                                                    &session->experiment, wanted, list);
    if (status != DB_OK || strcmp(wanted, "all") != 0) return status;
    size_t more;
    const db_status found = db_gradient_check_beyond_table(
        session->context, &session->experiment, options, list->parameter + list->count, &more);
    if (found != DB_OK) return db_session_complain(session, found);
    list->count += more;
    return DB_OK;
}

static db_status run_check(db_session *session, int *passed) {
    const db_settings *settings = &session->settings;
    const db_gradient_check_options options = {
        .regions = session->regions,
        .region_count = session->region_count,
        .contraction_tolerance = settings->contraction_tolerance,
        .difference_tolerance = settings->difference_tolerance,
        .tolerance = settings->tolerance,
        .all = settings->check_all,
    };
    db_parameter_list list;
    db_gradient_check_row rows[DB_MOST_LISTED_PARAMETERS + 1];
    db_gradient_check_extent extent;
    db_status status = list_parameters(session, &options, &list);
    if (status != DB_OK) return status;
    status = db_report_experiment(session);
    if (status != DB_OK) return status;
    const double start = db_stopwatch();
    db_progress_attach(session->context, &session->settings);
    status = db_gradient_check(session->context, &session->experiment, list.parameter, list.count,
                               &options, rows, &extent);
    db_progress_finish(session->context);
    if (status != DB_OK) return db_session_complain(session, status);
    db_session_note_device(session);
    print_table(rows, list.count + 1);
    size_t failed = 0;
    for (size_t k = 0; k <= list.count; k++) failed += rows[k].verdict != DB_CHECK_OK;
    print_reasons(rows, list.count + 1);
    print_extent(&extent, list.count);
    const size_t wrong = failed - (rows[list.count].verdict != DB_CHECK_OK);
    printf("%zu of %zu parameters within their bounds (finite differences: %g of the largest "
           "derivative), in %.1f s (%s)\n",
           list.count - wrong, list.count, settings->difference_tolerance, db_stopwatch() - start,
           db_session_manner(session, db_context_device(session->context)));
    *passed = failed == 0;
    return DB_OK;
}

static int run_check_command(const db_command *command, int argc, char **argv) {
    db_session session;
    int passed = 1;
    db_status status = db_session_open(&session, command, argc, argv);
    if (status == DB_OK && !session.finished) status = run_check(&session, &passed);
    status = db_session_close(&session, status);
    return status == DB_OK && !passed ? CHECK_FAILED : db_status_exit_code(status);
}

const db_command db_check_command = { "check", db_check_help, &db_check_flags, run_check_command };
