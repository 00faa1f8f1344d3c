/* The context: threads, instruction set, device, progress, stages; and the texts of statuses. */
#include "base/context_internal.h"
#include "base/processor.h"
#include "base/shown_text.h"
#include "base/threads.h"

#include <dualbragg/device.h>
#include <dualbragg/expert/stages.h>
#include <dualbragg/status.h>
#include <dualbragg/expert/instruction_set.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BACKENDS = 8 };

static const db_device_backend *backends[MOST_BACKENDS];
static size_t backend_count;

void db_device_register(const db_device_backend *backend) {
    for (size_t i = 0; i < backend_count; i++)
        if (backends[i] == backend) return;
    if (backend_count < MOST_BACKENDS) backends[backend_count++] = backend;
}

void db_device_unregister(const db_device_backend *backend) {
    for (size_t i = 0; i < backend_count; i++)
        if (backends[i] == backend) {
            backend_count--;
            memmove(&backends[i], &backends[i + 1], (backend_count - i) * sizeof *backends);
            return;
        }
}

static int known_rank = -1;

void db_device_set_local_rank(int rank) { known_rank = rank; }

/* Rank on this machine from the environment of Open MPI, Intel MPI and other relatives of MPICH, MVAPICH, Cray's
 * and IBM's launchers, flux, srun, torchrun. */
static int local_rank(void) {
    static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK",
                                         "MPI_LOCALRANKID",
                                         "MV2_COMM_WORLD_LOCAL_RANK",
                                         "PALS_LOCAL_RANKID",
                                         "JSM_NAMESPACE_LOCAL_RANK",
                                         "FLUX_TASK_LOCAL_ID",
                                         "SLURM_LOCALID",
                                         "LOCAL_RANK" };
    if (known_rank >= 0) return known_rank;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const text = getenv(names[i]);
        const size_t digits = text ? strspn(text, "0123456789") : 0;
        if (digits >= 1 && digits <= 8 && !text[digits]) return atoi(text);
    }
    return 0;
}

/* Number of this process' device: the processes of a machine take its devices in turn. */
static int local_number(const db_device_backend *backend) {
    const int count = backend->count ? backend->count() : 1;
    return count > 1 ? local_rank() % count : 0;
}

/* "cpu", "auto" and the names of the backends, for messages. */
static void list_names(char *out, size_t size) {
    size_t used = (size_t)snprintf(out, size, "cpu, auto");
    for (size_t i = 0; i < backend_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, ", %s, %s:1, %s:local", backends[i]->name,
                                 backends[i]->name, backends[i]->name);
}

enum { LOCAL = -1 };

/* Is it a name of a device: "cuda", "cuda:1", "cuda:local"? The number may be left out. */
static int is_device_name(const char *text, size_t *length, int *number) {
    *length = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    *number = 0;
    if (!*length) return 0;
    if (!text[*length]) return 1;
    const char *digits = text + *length + 1;
    if (strcmp(text + *length, ":local") == 0) {
        *number = LOCAL;
        return 1;
    }
    const size_t count = strspn(digits, "0123456789");
    if (text[*length] != ':' || count < 1 || count > 4 || digits[count]) return 0;
    *number = atoi(digits);
    return 1;
}

static db_status open_device(db_context *context, const db_device_backend *backend, int number,
                             int automatic) {
    const int local = number == LOCAL, own = local ? local_number(backend) : number;
    db_device made = { .backend = backend, .number = own, .automatic = automatic, .local = local };
    DB_TRY(backend->open(context, own, made.model));
    snprintf(made.name, sizeof made.name, "%s:%d", backend->name, own);
    context->device = made;
    return DB_OK;
}

static db_status open_any(db_context *context) {
    db_device none = { .automatic = 1, .name = "cpu" };
    if (!backend_count)
        snprintf(none.note, sizeof none.note, "this build has no backend for another device");
    for (size_t i = 0; i < backend_count; i++) {
        if (open_device(context, backends[i], LOCAL, 1) == DB_OK) return DB_OK;
        if (!*none.note) snprintf(none.note, sizeof none.note, "%.500s", context->message);
    }
    context->message[0] = 0;
    context->device = none;
    return DB_OK;
}

db_status db_context_set_device(db_context *context, const char *name) {
    char names[128];
    size_t length;
    int number;
    if (strcmp(name, "cpu") == 0 || strcmp(name, "cpu:0") == 0) {
        context->device = (db_device){ .name = "cpu" };
        return DB_OK;
    }
    if (strcmp(name, "auto") == 0) return open_any(context);
    const int well_formed = is_device_name(name, &length, &number);
    for (size_t i = 0; well_formed && i < backend_count; i++)
        if (strlen(backends[i]->name) == length && strncmp(backends[i]->name, name, length) == 0)
            return open_device(context, backends[i], number, 0);
    list_names(names, sizeof names);
    if (well_formed)
        return db_fail(context, DB_ERROR_DEVICE,
                       "device %s: this build has no backend of that name; expected one of %s",
                       name, names);
    return db_fail(context, DB_ERROR_USAGE, "device: expected one of %s, found '%s'", names, name);
}

db_status db_device_choose_local(db_context *context) {
    const db_device *const device = &context->device;
    if (!device->local || !device->backend) return DB_OK;
    return open_device(context, device->backend, LOCAL, device->automatic);
}

const char *db_context_device(const db_context *context) { return context->device.name; }

const char *db_context_device_model(const db_context *context) { return context->device.model; }

const char *db_context_device_note(const db_context *context) { return context->device.note; }

/* Baseline: instructions that every processor of this kind has. */
#if defined(__SSE2__)
#define BASELINE "sse2"
#elif defined(__aarch64__)
#define BASELINE "neon"
#else
#define BASELINE "generic"
#endif
/* Names by db_isa; behind them the baselines of other kinds, which this build does not have. */
static const char *const isa_names[] = { BASELINE, "avx2", "avx512", "sse2", "neon", "generic" };
enum { ISA_NAMES = sizeof isa_names / sizeof *isa_names };

/* Was it compiled, and does this processor have it? */
static int isa_available(db_isa isa) {
    switch (isa) {
    case DB_ISA_BASELINE: return 1;
#if defined(DB_HAVE_AVX2)
    case DB_ISA_AVX2: return db_processor_has_avx2();
#endif
#if defined(DB_HAVE_AVX512)
    case DB_ISA_AVX512: return db_processor_has_avx512();
#endif
    default: return 0;
    }
}

static db_isa best_isa(void) {
    for (db_isa isa = DB_ISA_AVX512; isa > DB_ISA_BASELINE; isa--)
        if (isa_available(isa)) return isa;
    return DB_ISA_BASELINE;
}

void db_record_message(db_context *context, const char *format, ...) {
    /* a copy, because the arguments may contain the previous message */
    char message[DB_MESSAGE_SIZE];
    if (!context) return;
    va_list arguments;
    va_start(arguments, format);
    db_shown_vformat(message, sizeof message, format, arguments);
    va_end(arguments);
    memcpy(context->message, message, strlen(message) + 1);
}

db_status db_context_create(db_context **context) {
    *context = calloc(1, sizeof **context);
    if (!*context) return DB_ERROR_MEMORY;
    (*context)->isa = best_isa();
    const char *isa = getenv("DUALBRAGG_ISA");
    const char *device = getenv("DUALBRAGG_DEVICE");
    /* the context stays after these failures, so that its message can be read */
    DB_TRY(db_context_set_device(*context, "cpu"));
    if (isa && *isa) DB_TRY(db_context_set_isa(*context, isa));
    if (device && *device) DB_TRY(db_context_set_device(*context, device));
    return DB_OK;
}

void db_context_destroy(db_context **context) {
    if (!context) return;
    if (*context && (*context)->device_pool) (*context)->pool_destroy((*context)->device_pool);
    free(*context);
    *context = NULL;
}

const char *db_context_message(const db_context *context) { return context->message; }

db_status db_context_set_threads(db_context *context, int threads) {
    if (threads < 0 || threads > 4096)
        return db_fail(context, DB_ERROR_USAGE, "threads: expected 0 (all) to 4096, found %d",
                       threads);
    context->threads = threads;
    return DB_OK;
}

int db_context_threads(const db_context *context) { return db_threads(context); }

db_status db_context_set_isa(db_context *context, const char *isa) {
    if (strcmp(isa, "auto") == 0) {
        context->isa = best_isa();
        return DB_OK;
    }
    for (int i = 0; i < ISA_NAMES; i++) {
        if (strcmp(isa, isa_names[i]) != 0) continue;
        if (!isa_available((db_isa)i))
            return db_fail(context, DB_ERROR_DEVICE,
                           "instruction set %s: not in this build or processor (best: %s)", isa,
                           isa_names[best_isa()]);
        context->isa = (db_isa)i;
        return DB_OK;
    }
    return db_fail(context, DB_ERROR_USAGE,
                   "instruction set: expected auto, sse2, neon, avx2 or avx512, found '%s'", isa);
}

const char *db_context_isa(const db_context *context) { return isa_names[context->isa]; }

void db_context_set_progress(db_context *context, db_progress_function function, void *user) {
    context->progress = function;
    context->progress_user = user;
}

void db_context_set_stages(db_context *context, db_stage_function function, void *user) {
    context->stage = function;
    context->stage_user = user;
}

void db_context_set_notices(db_context *context, db_notice_function function, void *user) {
    context->notice = function;
    context->notice_user = user;
    context->notice_count = 0;
}

/* FNV-1a */
uint64_t db_notice_hash(const char *line) {
    uint64_t hash = 0xcbf29ce484222325;
    for (; *line; line++) hash = (hash ^ (unsigned char)*line) * 0x100000001b3;
    return hash;
}

int db_notice_is_told(const uint64_t noticed[DB_NOTICES_KEPT], unsigned count, uint64_t hash) {
    const unsigned kept = count < DB_NOTICES_KEPT ? count : DB_NOTICES_KEPT;
    for (unsigned i = 0; i < kept; i++)
        if (noticed[i] == hash) return 1;
    return 0;
}

void db_notice(db_context *context, const char *format, ...) {
    char line[DB_MESSAGE_SIZE];
    if (!context || !context->notice) return;
    va_list arguments;
    va_start(arguments, format);
    db_shown_vformat(line, sizeof line, format, arguments);
    va_end(arguments);
    const uint64_t hash = db_notice_hash(line);
    if (db_notice_is_told(context->noticed, context->notice_count, hash)) return;
    context->noticed[context->notice_count++ % DB_NOTICES_KEPT] = hash;
    context->notice(context->notice_user, line);
}

static void report_stage(const db_context *context, const char *name, int begins) {
    if (!context || !context->stage) return;
    const db_stage stage = { .name = name, .begins = begins };
    context->stage(context->stage_user, &stage);
}

void db_enter_stage(const db_context *context, const char *name) { report_stage(context, name, 1); }
void db_leave_stage(const db_context *context, const char *name) { report_stage(context, name, 0); }

static const struct {
    int exit_code;
    const char *text;
} entries[] = {
#define DB_STATUS_ENTRY(name, exit_code, text) { exit_code, text },
    DB_STATUS_LIST(DB_STATUS_ENTRY)
#undef DB_STATUS_ENTRY
};

const char *db_status_text(db_status status) {
    return (unsigned)status < DB_STATUS_COUNT ? entries[status].text : "unknown status";
}

int db_status_exit_code(db_status status) {
    return (unsigned)status < DB_STATUS_COUNT ? entries[status].exit_code : 3;
}
