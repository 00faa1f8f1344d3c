/* Names of the files of single shots. */
#ifndef DB_FIT_SHOTS_MODEL_NAME_H
#define DB_FIT_SHOTS_MODEL_NAME_H

#include <dualbragg/fit.h>

/* As db_fit_shots_model_name, for a shot called `whole`, one of `count`. */
void db_shots_model_name(const char *whole, size_t shot, size_t count, char name[DB_FIT_PATH_SIZE]);

#endif
