/* Numbered reflections of an asymmetric unit down to a resolution. The list depends only on cell, space group and
 * resolution, so all processes have the same numbers without messages. */
#ifndef DB_FIT_MERGE_ASYMMETRIC_UNIT_H
#define DB_FIT_MERGE_ASYMMETRIC_UNIT_H

#include <dualbragg/experiment.h>
#include <dualbragg/reflections.h>

#include <stdint.h>

/* Number of a reflection that is not in a list. */
#define DB_NO_REFLECTION UINT32_MAX

/* Reflections in the order of falling h, k, l; a Bijvoet mate follows its partner, and has its indices with the
 * other sign. The largest of equivalent indices, Friedel mates included, stands for all. Systematic absences of
 * the space group are left out. */
typedef struct db_asu_list {
    double cell[6]; /* angstrom, degree */
    double d_min;   /* angstrom */
    int anomalous;  /* 1: Bijvoet mates are separate reflections; centric ones have no mate */
    db_space_group *group; /* owned */
    size_t count;
    int (*hkl)[3];
    uint32_t *mate;         /* number of the Bijvoet mate; the own number: no mate in the list */
    unsigned char *centric; /* 1: a rotation turns the reflection into its Friedel mate */
    /* number of rotations that leave the reflection unchanged: factor on its mean intensity */
    unsigned char *epsilon;
    float *d;         /* spacing (angstrom) */
    int most[3];      /* largest indices in the box `number` */
    uint32_t *number; /* for all h, k, l up to these, in the order of h, k, l */
} db_asu_list;

/* group: number or symbol of a space group; "": P 1, which needs no table of groups. DB_ERROR_INPUT for a d_min
 * with more than 10^9 indices. */
db_status db_asu_list_make(db_context *context, const double cell[6], const char *group,
                           double d_min, int anomalous, db_asu_list *list);
/* The same with the operators of a group. */
db_status db_asu_list_make_in(db_context *context, const double cell[6],
                              const db_space_group *group, double d_min, int anomalous,
                              db_asu_list *list);
void db_asu_list_clear(db_asu_list *list);

/* Number of the reflection with these indices or equivalent ones; DB_NO_REFLECTION beyond d_min, for 0 0 0 and for
 * absences. */
static inline uint32_t db_asu_number(const db_asu_list *list, const int hkl[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        if (hkl[i] < -list->most[i] || hkl[i] > list->most[i]) return DB_NO_REFLECTION;
        at = at * (2 * (size_t)list->most[i] + 1) + (size_t)(hkl[i] + list->most[i]);
    }
    return list->number[at];
}

/* Largest spacing of a reflection of the list (angstrom), at least d_min. */
double db_asu_coarsest(const db_asu_list *list);

/* Common number of partner and mate, different from other reflections: the number of the first. */
static inline uint32_t db_asu_pair(const db_asu_list *list, uint32_t number) {
    return list->mate[number] < number ? list->mate[number] : number;
}

#endif
