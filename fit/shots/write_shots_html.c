/* The report of many shots: the numbers of PREFIX.json. */
#include "base/context_internal.h"
#include "fit/report/report.h"
#include "fit/shots/shots_document.h"

typedef struct report {
    const db_shared_view *view;
    const db_fit_shots_result *result;
} report;

static db_status print_data(db_context *context, const void *of, FILE *stream) {
    const report *const r = of;
    db_document d = db_shots_document(r->view, r->result);
    return db_page_print_document(context, "data", &d, stream);
}

db_status db_fit_shots_write_html(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_shots_result *result) {
    db_shared_view *view;
    DB_TRY(db_shared_view_make(context, config, result, &view));
    const report r = { view, result };
    const db_status status = db_page_write(context, path, print_data, &r);
    db_shared_view_destroy(&view);
    return status;
}
