/* The equations of a shot for the intensities of its boxes and for shared quantities, its own quantities eliminated.
 *
 * Its loss, to second order in changes x of the intensities of its boxes, y of its own (local)
 * quantities and g of the shared ones, is
 *
 *     loss + 2 (pull'x + e'y + c'g) + x'Dx + y'My + g'Gg + 2 (x'Uy + x'Wg + y'Bg)
 *
 * with D diagonal, as no two intensities meet in a pixel. M = L L' is factored, and what remains of
 * the local quantities at their best y is kept: V = U L'^-1, own = L^-1 e, Q = L^-1 B. Without them
 *
 *     slope by x:  pull - V own         by x, x:  D - V V'
 *              g:  c - Q'own               x, g:  W - V Q
 *                                          g, g:  G - Q'Q
 *
 * (halves of first and second derivatives; docs/theory/joint-intensities.md). V Q is never formed. */
#ifndef DB_FIT_LINEAR_REDUCED_H
#define DB_FIT_LINEAR_REDUCED_H

#include <stddef.h>
#include <stdint.h>

typedef struct db_reduced_equations {
    size_t count, local, shared; /* boxes, quantities */
    size_t meets;                /* shared quantities that may move a box */
    double *loss;                /* 1: loss of the shot, priors of local quantities included */
    double
        *factor; /* L [local][local], lower triangle; a diagonal of 0: the quantity does not move */
    double *own; /* [local] */
    double *cross;        /* Q [local][shared] */
    double *slope;        /* c - Q'own [shared] */
    double *normal;       /* G - Q'Q [shared][shared] */
    uint32_t *reflection; /* [count] number of the box's intensity */
    float *trust;         /* [count] weight of the box, included in the following */
    float *pull;          /* [count] */
    float *curvature;     /* D [count] */
    float *tail;          /* V [count][local] */
    float *by_shared;     /* [count][meets] by the shared quantities that move the box */
    uint16_t *place;      /* [count][meets] these quantities; by others it is 0 */
    float *partiality;    /* [count] fraction of the reflection on the image */
    float *light;         /* [count] photons of the box for an intensity of 1 */
    int16_t (*hkl)[3];    /* [count] common indexing of all shots, from the second pass on */
} db_reduced_equations;

/* Bytes of a record, and its arrays in memory of this size, which is aligned for doubles. */
size_t db_reduced_size(size_t count, size_t local, size_t shared, size_t meets);
db_reduced_equations db_reduced_in(size_t count, size_t local, size_t shared, size_t meets,
                                   void *memory);

/* As db_linearization_is_sound. */
int db_reduced_is_sound(const db_reduced_equations *record, size_t reflections);

/* Equations of all quantities before the local ones are eliminated; halves of derivatives. */
typedef struct db_normal_equations {
    const double *gradient;    /* [local + shared]: e, c */
    const double *normal;      /* [local + shared][local + shared], symmetric: M, B, G */
    const unsigned char *held; /* [local] 1: fixed at a bound */
} db_normal_equations;

/* Fills factor, own, cross, slope and normal. A local quantity does not move if it is held, or if it is a
 * combination of those before it to 8 digits. */
void db_reduced_eliminate(const db_normal_equations *quadratic, db_reduced_equations *record);

/* Fills the tail of a box from its U, [local]. Needs the factor. room: [local] doubles. */
void db_reduced_box(db_reduced_equations *record, size_t box, const double *mixed, double *room);

/* The best change of the local quantities for changes of all intensities, [reflections], and of the shared
 * quantities; at_rest: their own slopes count as 0. */
void db_reduced_answer(const db_reduced_equations *record, int at_rest, const double *intensity,
                       const double *shared, double *local);

#endif
