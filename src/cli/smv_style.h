/* What the SMV images of a session say about its convention. */
#ifndef DB_CLI_SMV_STYLE_H
#define DB_CLI_SMV_STYLE_H

#include "cli/session.h"

db_smv_style db_session_smv_style(const db_session *session);

#endif
