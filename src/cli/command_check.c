/* dualbragg check: are the derivatives right on this set-up? */
#include "cli/command.h"
#include "cli/complaint.h"
#include "cli/parameter_list.h"
#include "cli/report.h"
#include "cli/stopwatch.h"
#include "engine/gradient_check.h"

#include <stdio.h>

enum { CHECK_FAILED = 1 };

/* Finite differences whose own error exceeds the tolerance decide nothing. */
static const char *verdict(const db_gradient_check_row *row, const db_settings *settings) {
    if (row->passed) return "ok";
    if (row->compared == 0) return "NOT COMPARED";
    return row->contraction <= settings->contraction_tolerance &&
                   row->difference <= 3 * row->difference_error
               ? "TOO ROUGH"
               : "DIFFERS";
}

static void print_row(const db_gradient_check_row *row, const db_settings *settings) {
    const db_parameter_info *info = db_parameter_describe(row->parameter);
    char name[DB_LISTED_NAME];
    db_parameter_name(row->parameter, name, sizeof name);
    printf("%-21s %10.3g /%-5s %11.2g %11.2g %11.2g %9zu %9zu  %s\n", name, row->largest,
           info->unit, row->contraction, row->difference, row->difference_error, row->compared,
           row->excluded, verdict(row, settings));
}

static void print_table(const db_gradient_check_row *rows, size_t count,
                        const db_settings *settings) {
    printf("%-21s %17s %11s %11s %11s %9s %9s\n", "parameter", "largest |dI/dp|", "contraction",
           "oracle", "error of", "pixels", "pixels");
    printf("%-21s %17s %11s %11s %11s %9s %9s  %s\n", "", "(photons/unit)", "- oracle",
           "- fin.diff.", "fin.diff.", "compared", "at kinks", "verdict");
    for (size_t k = 0; k < count; k++) print_row(&rows[k], settings);
}

static db_status run_check(db_session *session, int *passed) {
    const db_settings *settings = &session->settings;
    db_parameter_list list;
    db_gradient_check_row rows[DB_MOST_LISTED_PARAMETERS];
    db_status status =
        db_parameter_list_read(settings->command, session->context, &session->experiment,
                               settings->parameters ? settings->parameters : "all", &list);
    if (status != DB_OK) return status;
    status = db_report_experiment(session);
    if (status != DB_OK) return status;
    const db_gradient_check_options options = { session->regions, session->region_count,
                                                settings->contraction_tolerance,
                                                settings->difference_tolerance };
    const double start = db_stopwatch();
    status = db_gradient_check(session->context, &session->experiment, list.parameter, list.count,
                               &options, rows);
    if (status != DB_OK) return db_session_complain(session, status);
    db_session_note_device(session);
    print_table(rows, list.count, settings);
    size_t failed = 0;
    for (size_t k = 0; k < list.count; k++) failed += !rows[k].passed;
    printf("%zu of %zu parameters within %g (contraction) and %g (finite differences) of their "
           "largest "
           "derivative, in %.1f s (%s)\n",
           list.count - failed, list.count, settings->contraction_tolerance,
           settings->difference_tolerance, db_stopwatch() - start,
           db_session_manner(session, db_context_device(session->context)));
    *passed = failed == 0;
    return DB_OK;
}

int db_command_check(int argc, char **argv) {
    db_session session;
    int passed = 1;
    db_status status = db_session_open(&session, argc, argv);
    if (status == DB_OK && !session.finished) status = run_check(&session, &passed);
    status = db_session_close(&session, status);
    return status == DB_OK && !passed ? CHECK_FAILED : db_status_exit_code(status);
}
