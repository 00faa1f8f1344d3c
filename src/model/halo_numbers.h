/* Numbers that a diffuse halo is made of, and nodes that are summed. */
#ifndef DB_MODEL_HALO_NUMBERS_H
#define DB_MODEL_HALO_NUMBERS_H

/* Nodes to either side of the nearest one, along each axis, and how many there are. */
enum { DB_HALO_REACH = 1, DB_HALO_NODES = 27 };
/* Interface values (model/halo.h). Those from DB_HALO_BASIS on are whole numbers without slopes. */
enum {
    DB_HALO_U = 0,
    DB_HALO_C = 6, /* upper triangle, by rows */
    DB_HALO_DENSITY = 12,
    DB_HALO_UNTIL = 13, /* of nodes, rods and sheets */
    DB_HALO_ROD = 16,
    DB_HALO_SHEET = 17,
    DB_HALO_EVEN = 18,
    DB_HALO_SLOPES = 19,
    DB_HALO_BASIS = 19,   /* rows: Miller indices of the basis vectors */
    DB_HALO_INVERSE = 28, /* rows: what Miller indices are multiplied with */
    DB_HALO_NUMBERS = 37
};

#endif
