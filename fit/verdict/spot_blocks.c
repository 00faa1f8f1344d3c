#include "fit/verdict/spot_blocks.h"

#include "base/compiled_isas.h"

#include <math.h>

#define DECLARE(isa, number) extern const db_spot_block_calls db_spot_block_calls_##isa;
DB_INSTANCES(DECLARE)

const db_spot_block_calls *db_spot_block_calls_of(db_isa isa) {
    static const db_spot_block_calls *const instance[DB_ISA_COUNT] = {
#define ENTRY(isa, number) [number] = &db_spot_block_calls_##isa,
        DB_INSTANCES(ENTRY)
    };
    return instance[isa];
}

/* By how much longer the recorded lines of a node are than its width, in its widths. */
static double length_recorded(const db_evidence_spot *s, const db_evidence_width *w) {
    double recorded = 0;
    for (int k = 0; k < DB_SWEEPS; k++) {
        const double *const line = s->sweep[k];
        if (line[0] != 0 || line[1] != 0 || line[2] != 0)
            recorded += sqrt((line[0] * line[0] + line[1] * line[1]) / (w->place * w->place) +
                             line[2] * line[2] / (w->turn * w->turn));
    }
    return recorded;
}

void db_spot_block_take(const db_evidence *e, const db_evidence_width *width, const size_t *spots,
                        size_t count, db_spot_block *b) {
    const double wide[3] = { width->place, width->place, width->turn },
                 inverse[3] = { 1 / wide[0], 1 / wide[1], 1 / wide[2] };
    for (size_t i = 0; i < DB_SPOT_BLOCK; i++) {
        const db_evidence_spot *const s = &e->spot[spots[i < count ? i : count - 1]];
        for (int k = 0; k < 3; k++) b->q[k][i] = s->q[k];
        for (int k = 0; k < 9; k++) b->offset[k][i] = inverse[k / 3] * s->offset[k];
        for (int k = 0; k < 3; k++) b->shifted[k][i] = s->shifted[k] / wide[k];
        b->volume[i] = s->volume;
        b->recorded[i] = 1 + DB_STUDENT_PEAK * length_recorded(s, width);
    }
}

size_t db_spot_block_take_run(const db_evidence *e, const db_evidence_width *width, size_t first,
                              size_t step, size_t count, db_spot_block *b) {
    size_t list[DB_SPOT_BLOCK] = { first }, listed = 1;
    for (size_t i = first + step; i < count && listed < DB_SPOT_BLOCK; i += step)
        list[listed++] = i;
    db_spot_block_take(e, width, list, listed, b);
    return listed;
}
