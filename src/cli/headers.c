#include "cli/headers.h"

#include "cli/flags.h"

static db_status take(db_session *session, const char *file, db_header_role role, db_setup *setup) {
    if (!file) return DB_OK;
    const db_status status =
        db_setup_read_header(session->context, file, role, setup,
                             session->settings.quiet ? NULL : db_notices_add, &session->notices);
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

/* The list's number is what was found from now on. */
static db_status take_list(db_session *session, db_setup *setup) {
    db_setup *const named = &session->settings.setup;
    if (!named->expt_file) return DB_OK;
    const db_status status = db_setup_read_expt(
        session->context, named->expt_file, named->expt_number, session->settings.img_file, setup,
        session->settings.quiet ? NULL : db_notices_add, &session->notices);
    return status == DB_OK ? DB_OK : db_session_complain(session, status);
}

db_status db_headers_take(db_session *session, int argc, char **argv) {
    const db_settings *named = &session->settings;
    if (!named->mask_file && !named->img_file && !named->setup.expt_file) return DB_OK;
    db_settings again;
    db_settings_init(&again, named->command);
    again.setup.compat = named->setup.compat;
    again.quiet = 1; /* remarks on the flags were made */
    db_status status = take(session, named->mask_file, DB_HEADER_OF_MASK, &again.setup);
    if (status == DB_OK) status = take(session, named->img_file, DB_HEADER_OF_IMAGE, &again.setup);
    if (status == DB_OK) status = take_list(session, &again.setup);
    if (status == DB_OK) status = db_flags_parse(&again, argc, argv);
    if (status != DB_OK) return status;
    again.quiet = named->quiet;
    again.setup.expt_image = named->img_file;
    session->settings = again;
    return DB_OK;
}
