/* The model that a trace of pixels uses. */
#ifndef DB_ENGINE_PIXEL_TRACE_MODEL_H
#define DB_ENGINE_PIXEL_TRACE_MODEL_H

#include <dualbragg/expert/pixel_trace.h>

#include "engine/amorphous_curve.h"
#include "model/model.h"

struct db_trace {
    db_experiment experiment; /* own copy, or with lists that are the caller's */
    int borrowed;             /* 1: these */
    db_interface model;
    db_amorphous_curve curve;
};

/* As db_trace_create, without a copy: the experiment must outlive the trace and not change. */
db_status db_trace_borrow(db_context *context, const db_experiment *experiment, db_trace **trace);

#endif
