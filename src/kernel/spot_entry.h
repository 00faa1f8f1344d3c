/* Which spot in closed form one is: reflection, source, panel, Gaussian of the blocks, and passage of the node. */
#ifndef DB_KERNEL_SPOT_ENTRY_H
#define DB_KERNEL_SPOT_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* What an angle of the rotation is, for its slopes. */
typedef enum db_spot_angle {
    SPOT_FIXED,    /* an end of the range */
    SPOT_CROSSING, /* where the node crosses the Ewald sphere */
    SPOT_TURNING   /* where the node is nearest to the sphere's middle, or farthest from it */
} db_spot_angle;

/* A passage of a node near or through the Ewald sphere: half a turn of the rotation, between the
 * angles at which the node's distance to the sphere turns, as far as it lies in the range. Radian,
 * from the start of the range. */
typedef struct {
    double at, from, to; /* at: where the spot is expanded */
    db_spot_angle at_kind, from_kind, to_kind;
    int moves; /* 0: a still, or a node that stays where it is */
} db_spot_passage;

/* Of which reflection, source and Gaussian of the blocks. */
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
