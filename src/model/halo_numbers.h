/* Numbers that a diffuse halo is made of, and nodes that are summed. */
#ifndef DB_MODEL_HALO_NUMBERS_H
#define DB_MODEL_HALO_NUMBERS_H

/* Nodes to either side of the nearest one, along each axis, and how many there are. */
enum { DB_HALO_REACH = 1, DB_HALO_NODES = 27 };
/* Interface values: U, M, density, tail (model/halo.h). */
enum {
    DB_HALO_U = 0,
    DB_HALO_M = 6,
    DB_HALO_DENSITY = 12,
    DB_HALO_TAIL = 13,
    DB_HALO_NUMBERS = 14
};

#endif
