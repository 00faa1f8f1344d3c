#include "cli/precision_choice.h"

#include <stdio.h>

static db_status ask(const db_session *session, const db_plan_options *options,
                     db_precision *precision) {
    db_precision_advice advice;
    const db_status status =
        db_precision_recommend(session->context, &session->experiment, options, &advice);
    if (status != DB_OK) return status;
    *precision = advice.precision;
    /* the report of -compat has the reference's lines only */
    if (session->settings.quiet || session->settings.setup.compat) return DB_OK;
    if (advice.precision == DB_PRECISION_MIXED)
        printf("precision: mixed, expected error %.1g of the maximum\n", advice.error);
    else
        printf("precision: double, because %s\n", advice.reason);
    return DB_OK;
}

db_status db_precision_choose(db_session *session, db_plan_options *options) {
    db_settings *const s = &session->settings;
    db_status status = DB_OK;
    if (s->precision_choice == DB_CHOOSE_AUTO)
        status = ask(session, options, &s->precision);
    else
        s->precision =
            s->precision_choice == DB_CHOOSE_MIXED ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
    options->precision = s->precision;
    return status;
}
