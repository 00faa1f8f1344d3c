/* Checkpoints that were cut off or changed: a run that is to go on from one says so, and never crashes. */
#ifndef DB_TESTS_FIT_DAMAGED_STATE_H
#define DB_TESTS_FIT_DAMAGED_STATE_H

#include <dualbragg/fit_shots.h>

/* Cuts and changes the files of a checkpoint, options->checkpoint, in many places, one after the other, and goes on from
 * each: where digests do not fit, with an error that names it; where they do (a change by intention), with any
 * error, or up to the next evaluation. count: how often a file is cut, and changed; forged: a block of it by intention. */
void go_on_from_damaged_states(db_context *context, const db_fit_shot_source *source,
                               const db_fit_settings *settings, const db_fit_shots_options *options,
                               size_t count, size_t forged);

#endif
