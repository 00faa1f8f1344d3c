/* The members of a plan. Each part owns what its members point to. */
#ifndef DB_ENGINE_PLAN_STATE_H
#define DB_ENGINE_PLAN_STATE_H

#include "base/context_internal.h"
#include "engine/plan_parameters.h"
#include "engine/plan_room.h"
#include "engine/plan_slopes.h"
#include "engine/plan_table.h"
#include "engine/plan_tiles.h"
#include "engine/plan_values.h"
#include "kernel/job.h"

#include <dualbragg/device.h>

/* The device that a plan works on (device_plan.c). */
typedef struct db_used_device {
    db_device chosen;            /* by the context at creation */
    struct db_device_plan *part; /* the backend's part of the plan; NULL: on the processor */
    void **ordinary; /* memory for results, allocated after the plan went back to the processor */
    size_t ordinary_count, ordinary_room;
    db_stream_use stream_use;
    const char *note; /* what the processor did in place of the device in the last call, or "" */
} db_used_device;

/* Counters of changes: boxes and devices compare them to see whether their data are current. */
typedef struct db_plan_versions {
    unsigned long values;
    unsigned long spots, spot_slopes;
    unsigned long background, passing;  /* passing: images that no plan keeps */
    unsigned long box_data, box_images; /* data given to boxes, and images of boxes */
} db_plan_versions;

struct db_plan {
    db_context *context;
    db_experiment experiment; /* own copy */
    db_precision precision;
    double tolerance; /* photons */
    db_plan_parameters parameters;
    db_plan_tiles tiles;
    db_plan_table table;
    db_plan_values values;
    db_plan_slopes slopes; /* empty without parameters */
    db_kernel_job job;     /* points into the parts' memory */
    db_plan_room room;
    struct db_spots *spots;                /* NULL: sampled spots */
    struct db_normal *normal;              /* NULL until the first normal equations */
    struct db_plan_background *background; /* NULL until one is set */
    struct db_plan_amplitudes *amplitudes; /* NULL until the first gradient by structure factors */
    db_used_device device;
    db_plan_versions versions;
};

#endif
