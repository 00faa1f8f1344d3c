/* See fit/pixels/photon_rows.h; compiled once for each instruction set, with DB_INSTANCE_TAG. Sums have the same order in all
 * of them, and are not fused with products. */
#include "ad/vec_isa.h"
#include "fit/pixels/photon_rows.h"

#include <string.h>

enum {
    PARTS = 8, /* partial sums, whatever the width of a register */
    LANES = AD_VEC_BYTES / 8,
    EACH = PARTS / LANES /* registers */
};
_Static_assert(DB_PHOTON_PAIRS % PARTS == 0 && PARTS % LANES == 0, "whole registers");

typedef vec_double pairs;

static inline pairs load_pairs(const double *from) {
    pairs p;
    memcpy(&p, from, sizeof p);
    return p;
}

static inline double sum_of_parts(const pairs sum[EACH]) {
    double part[PARTS];
    memcpy(part, sum, sizeof part);
    for (int half = PARTS / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) part[i] += part[i + half];
    return part[0];
}

static void add_photon_row(db_photon_row *row, const db_photon_row *above, double *value,
                           double *together) {
    for (int k = 0; k < DB_PHOTON_POINTS; k++) {
        double *const versine = row->versine[k % DB_PHOTON_SERIES];
        pairs one[EACH] = { 0 }, two[EACH] = { 0 };
        for (int c = 0; c < DB_PHOTON_PAIRS; c += PARTS)
            for (int i = 0; i < EACH; i++) {
                const int at = c + i * LANES;
                const pairs v = load_pairs(versine + at), cosine = 1 - v, next = v * (4 - 2 * v);
                one[i] += load_pairs(row->known + at) * cosine;
                two[i] += load_pairs(row->both + at) * cosine * load_pairs(above->cosine[k] + at);
                memcpy(row->cosine[k] + at, &cosine, sizeof cosine);
                memcpy(versine + at, &next, sizeof next);
            }
        value[k] += sum_of_parts(one);
        together[k] += sum_of_parts(two);
    }
}

#define JOIN(a, b) a##b
#define TAGGED(a, b) JOIN(a, b)
extern const db_photon_row_adder TAGGED(db_photon_row_adder_, DB_INSTANCE_TAG);
const db_photon_row_adder TAGGED(db_photon_row_adder_, DB_INSTANCE_TAG) = add_photon_row;
