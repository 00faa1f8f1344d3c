/* Identity of a refinement, so that a checkpoint of another one is refused: settings of the refinement, and its
 * shots. */
#ifndef DB_FIT_LISTS_IDENTITY_H
#define DB_FIT_LISTS_IDENTITY_H

#include <dualbragg/fit_shots.h>

/* A configuration as lines "key: value" in sections, with digests of its files, but without names that do not
 * influence the result (of outputs, of the list). To be freed. */
db_status db_identity_text(db_context *context, const db_fit_config *config, char **text);

/* The first lines in which two such texts differ, as "model.shape (gauss here, square there)"; 0: they are equal. */
enum { DB_DIFFERENCES_SIZE = 512 };
int db_identity_differences(const char *here, const char *there, char text[DB_DIFFERENCES_SIZE]);

/* Digest of a configuration, without the names and contents of its image and list. */
db_status db_identity_of_settings(db_context *context, const db_fit_config *config,
                                  char digest[DB_FIT_DIGEST_SIZE]);

/* Identity of a shot of a list: see db_fit_shot_source.identify. common: the configuration of all, whose files are
 * not read again. */
db_status db_identity_of_shot(db_context *context, const db_fit_config *config,
                              const db_fit_config *common, db_fit_shot_identity *identity);

#endif
