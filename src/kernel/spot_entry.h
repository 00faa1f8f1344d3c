/* The name of a spot in closed form: reflection, source, panel, Gaussian of the blocks, and passage of the node. */
#ifndef DB_KERNEL_SPOT_ENTRY_H
#define DB_KERNEL_SPOT_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* The kind of an angle of the rotation, which determines its slopes. */
typedef enum db_spot_angle {
    SPOT_FIXED,    /* an end of the range */
    SPOT_CROSSING, /* where the node crosses the Ewald sphere */
    SPOT_TURNING   /* where the node is nearest to the sphere's middle, or farthest from it */
} db_spot_angle;

/* A passage of a node near or through the Ewald sphere: half a turn of the rotation, between two extremes of the
 * node's distance to the sphere, cut to the range. Radian, from the start of the range. */
typedef struct {
    double at, from, to; /* at: where the spot is expanded */
    db_spot_angle at_kind, from_kind, to_kind;
    int moves; /* 0: a still, or a node on the spindle */
} db_spot_passage;

/* The name: reflection, source, panel, Gaussian of the blocks, passage. */
typedef struct {
    int hkl[3];
    size_t source, panel;
    int tail;
    db_spot_passage passage;
} db_spot_name;

/* A spot that reaches a panel. */
typedef struct db_spot_entry {
    db_spot_name name;
    double cut;               /* as in db_kernel_spot */
    int32_t fast[2], slow[2]; /* pixels that it reaches: from, and to without that */
} db_spot_entry;

#endif
