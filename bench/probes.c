#include "bench/probes.h"

#include "bench/library_calls.h"
#include "base/context_internal.h"

#include <dualbragg/expert/instruction_set.h>
#include <string.h>

/* Pixels along each side. */
enum { SIZE = 1024, QUICK_SIZE = 256 };

const db_bench_probe_info db_bench_probes[DB_BENCH_PROBES] = {
    [DB_BENCH_ONE_THREAD] = { "one_thread", "mosaic", 1, NULL, DB_BENCH_IMAGE, 0 },
    [DB_BENCH_TWO_THREADS] = { "two_threads", "mosaic", 2, NULL, DB_BENCH_IMAGE, 0 },
    [DB_BENCH_AVX2] = { "avx2", "mosaic", 0, "avx2", DB_BENCH_IMAGE, 0 },
    [DB_BENCH_AVX512] = { "avx512", "mosaic", 0, "avx512", DB_BENCH_IMAGE, 0 },
    [DB_BENCH_IMAGE_1] = { "image_1_sample", "still", 0, NULL, DB_BENCH_IMAGE, 0 },
    [DB_BENCH_NORMAL_1] = { "normal_1_sample", "still", 0, NULL, DB_BENCH_NORMAL, 0 },
    [DB_BENCH_IMAGE_100] = { "image_100_samples", "mosaic", 0, NULL, DB_BENCH_IMAGE, 0 },
    [DB_BENCH_NORMAL_100] = { "normal_100_samples", "mosaic", 0, NULL, DB_BENCH_NORMAL, 0 },
    [DB_BENCH_NORMAL_16] = { "normal_16_of_everything", "everything", 0, NULL, DB_BENCH_NORMAL, 0 },
    [DB_BENCH_NORMAL_32] = { "normal_32_of_everything", "everything", 0, NULL, DB_BENCH_NORMAL,
                             DB_BENCH_MORE_PARAMETERS },
};

/* *own stays NULL where the machine cannot do it. */
static db_status make_context(db_context *context, const db_bench_probe_info *info, int processors,
                              db_context **own) {
    const int threads = info->threads ? info->threads : db_context_threads(context);
    const char *isa = info->isa ? info->isa : db_context_isa(context);
    if (info->threads > processors) return DB_OK;
    DB_TRY(db_context_create(own));
    if (db_context_set_isa(*own, isa) != DB_OK) db_context_destroy(own);
    return *own ? db_context_set_threads(*own, threads) : DB_OK;
}

static db_status open_probe(db_context *context, const db_bench_options *options, int processors,
                            db_bench_probe p, db_bench_prober *prober, db_bench_series *series) {
    const db_bench_probe_info *info = &db_bench_probes[p];
    const db_bench_workload workload = { .size = options->quick ? QUICK_SIZE : SIZE,
                                         .load =
                                             db_bench_find_load(info->load, strlen(info->load)) };
    DB_TRY(make_context(context, info, processors, &prober->context[p]));
    if (!prober->context[p]) return DB_OK;
    DB_TRY(db_bench_caller_open(prober->context[p], &workload, DB_PRECISION_MIXED,
                                info->parameters ? info->parameters : DB_BENCH_PARAMETERS,
                                &prober->caller[p]));
    return db_bench_choose_calls(&prober->caller[p], info->output, &prober->images, series);
}

db_status db_bench_prober_open(db_context *context, const db_bench_options *options, int processors,
                               db_bench_prober *prober, db_bench_series *series) {
    const size_t size = options->quick ? QUICK_SIZE : SIZE;
    memset(prober, 0, sizeof *prober);
    DB_TRY(
        db_bench_images_create(context, size * size, 0, DB_BENCH_TOUCHED_PAGES, &prober->images));
    for (db_bench_probe p = 0; p < DB_BENCH_PROBES; p++) {
        const db_status status = open_probe(context, options, processors, p, prober, &series[p]);
        if (status == DB_OK) continue;
        return prober->context[p]
                   ? db_fail(context, status, "%s", db_context_message(prober->context[p]))
                   : status;
    }
    return DB_OK;
}

db_status db_bench_prober_visit(db_bench_prober *prober, db_bench_series *series) {
    for (db_bench_probe p = 0; p < DB_BENCH_PROBES; p++)
        if (prober->context[p])
            DB_TRY(db_bench_visit(&prober->caller[p], db_bench_probes[p].output, &prober->images,
                                  &series[p]));
    return DB_OK;
}

void db_bench_prober_close(db_bench_prober *prober) {
    for (db_bench_probe p = 0; p < DB_BENCH_PROBES; p++) {
        db_bench_caller_close(&prober->caller[p]);
        db_context_destroy(&prober->context[p]);
    }
    db_bench_images_destroy(&prober->images);
}
