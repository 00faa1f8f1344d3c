/* The reflections of an asymmetric unit down to a resolution, numbered. The list depends on cell,
 * space group and resolution alone, so that all processes have the same numbers without a word. */
#ifndef DB_FIT_MERGE_ASYMMETRIC_UNIT_H
#define DB_FIT_MERGE_ASYMMETRIC_UNIT_H

#include <dualbragg/experiment.h>
#include <dualbragg/reflections.h>

#include <stdint.h>

/* Number of a reflection that is not in a list. */
#define DB_NO_REFLECTION UINT32_MAX

/* Reflections in the order of falling h, k, l; a Bijvoet mate follows its partner, and has its
 * indices with the other sign. Of equivalent indices, Friedel mates among them, the largest stands
 * for all. Systematic absences of the space group are left out. */
typedef struct db_asu_list {
    double cell[6]; /* angstrom, degree */
    double d_min;   /* angstrom */
    int anomalous;  /* 1: Bijvoet mates are reflections of their own; centric ones have no mate */
    db_space_group *group; /* owned */
    size_t count;
    int (*hkl)[3];
    uint32_t *mate;         /* number of the Bijvoet mate; its own: it has none in the list */
    unsigned char *centric; /* 1: a rotation turns it into its Friedel mate */
    unsigned char *epsilon; /* rotations that leave it as it is: its mean intensity is so many
                               times that of others */
    float *d;               /* spacing (angstrom) */
    int most[3];            /* largest indices in the box `number` */
    uint32_t *number;       /* of all h, k, l up to these, in the order of h, k, l */
} db_asu_list;

/* group: number or symbol of a space group; "": P 1, which needs no table of groups. DB_ERROR_INPUT
 * for a d_min that asks for more than 10^9 indices. */
db_status db_asu_list_make(db_context *context, const double cell[6], const char *group,
                           double d_min, int anomalous, db_asu_list *list);
void db_asu_list_clear(db_asu_list *list);

/* Number of the reflection that stands for these indices; DB_NO_REFLECTION beyond d_min, of 0 0 0
 * and of absences. */
static inline uint32_t db_asu_number(const db_asu_list *list, const int hkl[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        if (hkl[i] < -list->most[i] || hkl[i] > list->most[i]) return DB_NO_REFLECTION;
        at = at * (2 * (size_t)list->most[i] + 1) + (size_t)(hkl[i] + list->most[i]);
    }
    return list->number[at];
}

/* Partner and mate have the same number here, which other reflections do not have: that of the
 * first. */
static inline uint32_t db_asu_pair(const db_asu_list *list, uint32_t number) {
    return list->mate[number] < number ? list->mate[number] : number;
}

#endif
