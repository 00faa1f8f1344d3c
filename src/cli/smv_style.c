#include "cli/smv_style.h"

#include <math.h>

db_smv_style db_session_smv_style(const db_session *session) {
    const db_setup *setup = &session->settings.setup;
    const int custom = session->settings.vector_given;
    db_smv_style style = { .convention = db_convention_name(custom ? DB_CONVENTION_CUSTOM
                                                                   : setup->convention) };
    /* a set-up that was resolved has its beam centre */
    if (db_setup_beam_centre(session->context, setup, style.beam_centre) != DB_OK)
        style.beam_centre[0] = style.beam_centre[1] = NAN;
    return style;
}
