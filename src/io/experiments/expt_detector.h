/* Panels of an experiment list on the plate that carries them. */
#ifndef DB_IO_EXPT_DETECTOR_H
#define DB_IO_EXPT_DETECTOR_H

#include "base/json_reader.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>

/* Reads the detector (replaces its panel list), and content of each panel. The beam must be known: distance and
 * beam centre belong to the point where it meets the plate. One panel is its own plate. Several panels lie on a
 * plate through the mean of their middles, with their mean normal, the fast axis of the outermost group, and its
 * origin where the beam hits. */
db_status db_expt_detector(const db_json *model, const db_beam *beam, db_detector *detector,
                           db_expt_content *content);

#endif
