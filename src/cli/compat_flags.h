/* What flags do with -compat beyond what they say: the reference's habits (order, collisions of
 * names, files that nobody asked for). */
#ifndef DB_CLI_COMPAT_FLAGS_H
#define DB_CLI_COMPAT_FLAGS_H

#include "cli/flags.h"

/* After a flag was taken; value: the `count` arguments that follow its name, those it took and the
 * rest of the command line. */
void db_compat_after_flag(const db_flag *flag, char *const *value, int count,
                          db_settings *settings);

/* After the last flag: names of the files that the reference writes and reads anyway, seeds from
 * the clock. */
void db_compat_settle(db_settings *settings);

#endif
