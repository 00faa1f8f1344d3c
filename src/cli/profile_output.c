#include "cli/profile_output.h"

#include "cli/complaint.h"
#include "cli/profile.h"
#include "cli/stopwatch.h"

db_status db_profile_open(db_session *session, double entered, double before) {
    const db_settings *s = &session->settings;
    if (!s->profile_file) return DB_OK;
    session->profile = db_profile_create(entered - before);
    if (!session->profile)
        return db_complain(s->command, DB_ERROR_MEMORY, "out of memory for the profile");
    db_profile_add(session->profile, "start", entered - before, entered);
    db_profile_add(session->profile, "read flags", entered, db_stopwatch());
    db_context_set_stages(session->context, db_profile_stage, session->profile);
    return DB_OK;
}

db_status db_profile_close(db_session *session, db_status status) {
    const db_settings *s = &session->settings;
    if (!session->profile) return status;
    db_profile_end(session->profile);
    db_context_set_stages(session->context, NULL, NULL);
    if (status == DB_OK) {
        status = db_profile_write_trace(session->profile, session->context, s->profile_file);
        if (status != DB_OK)
            db_session_complain(session, status);
        else if (!s->quiet)
            db_profile_print_table(session->profile, stderr);
    }
    db_profile_destroy(&session->profile);
    return status;
}
