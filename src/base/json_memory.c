/* jansson without memory: counts allocations, and gives up parsing at the first failure. */
#if defined(DB_HAVE_JANSSON)
#include "base/json_memory.h"

#include "base/growth.h"
#include "base/shown_text.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/text_file.h>

#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A document being read: its allocations, and the place to continue without memory. */
typedef struct loading {
    jmp_buf out_of_memory;
    void **block;
    size_t count, room;
} loading;

static json_malloc_t real_malloc;
static json_free_t real_free;
static _Thread_local size_t failures;
static _Thread_local loading *current; /* of this thread; NULL: none */

static void *fail_json(void) {
    failures++;
    if (current) longjmp(current->out_of_memory, 1);
    return NULL;
}

static void *counting_malloc(size_t size) {
    if (current) {
        void **const grown =
            db_grown(current->block, &current->room, current->count + 1, sizeof *grown);
        if (!grown) return fail_json();
        current->block = grown;
    }
    void *const block = real_malloc(size);
    if (!block) return fail_json();
    if (current) current->block[current->count++] = block;
    return block;
}

static void forgetting_free(void *block) {
    /* most often one of the last */
    for (size_t i = current ? current->count : 0; i-- > 0;)
        if (current->block[i] == block) {
            current->block[i] = current->block[--current->count];
            break;
        }
    real_free(block);
}

/* The program may use jansson after this library was unloaded. */
__attribute__((destructor)) static void step_aside(void) {
    json_malloc_t now_malloc;
    json_free_t now_free;
    json_get_alloc_funcs(&now_malloc, &now_free);
    if (now_malloc == counting_malloc) json_set_alloc_funcs(real_malloc, real_free);
}

static void step_between(void) {
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    static atomic_int done;
    if (!atomic_flag_test_and_set(&taken)) {
        json_get_alloc_funcs(&real_malloc, &real_free);
        json_set_alloc_funcs(counting_malloc, forgetting_free);
        atomic_store(&done, 1);
    }
    while (!atomic_load(&done)) {
    } /* another thread installs them now */
}

size_t db_json_failures(void) {
    step_between();
    return failures;
}

static json_t *load_json(loading *state, const char *bytes, size_t size, json_error_t *error) {
    if (setjmp(state->out_of_memory) == 0) {
        current = state;
        json_t *const document = json_loadb(bytes, size, 0, error);
        current = NULL;
        return document;
    }
    current = NULL;
    for (size_t i = 0; i < state->count; i++) real_free(state->block[i]);
    return NULL;
}

json_t *db_json_load(const char *bytes, size_t size, json_error_t *error) {
    loading state = { .block = NULL };
    memset(error, 0, sizeof *error);
    step_between();
    json_t *const document = load_json(&state, bytes, size, error);
    free(state.block);
    return document;
}

/* Code point of UTF-8 that may not be shown unchanged (db_shown_character). */
static unsigned code_point(const unsigned char *c, size_t bytes) {
    return bytes == 1   ? c[0]
           : bytes == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                        : (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
}

/* Takes a character; ends of lines stay. */
static size_t character(const char *text, int *stays) {
    const size_t bytes = db_shown_character(text, stays);
    if (*text == '\n') *stays = 1;
    return bytes;
}

/* Documents are shown on terminals, too: characters that act on them, which occur only in strings, become \u009b
 * and the like, as jansson writes characters below 32. NULL without memory. */
static char *made_harmless(const char *text) {
    enum { LONGEST = 6 };
    size_t size = 1;
    int stays;
    for (const char *c = text; *c;) {
        const size_t bytes = character(c, &stays);
        size += stays ? bytes : LONGEST;
        c += bytes;
    }
    char *const harmless = malloc(size), *to = harmless;
    while (harmless && *text) {
        const size_t bytes = character(text, &stays);
        if (stays)
            memcpy(to, text, bytes);
        else
            snprintf(to, LONGEST + 1, "\\u%04x", code_point((const unsigned char *)text, bytes));
        to += stays ? bytes : LONGEST;
        text += bytes;
    }
    if (harmless) *to = 0;
    return harmless;
}

db_status db_json_write(db_context *context, const char *path, const json_t *document, size_t flags,
                        size_t before) {
    char *const text = document ? json_dumps(document, flags) : NULL;
    char *const harmless = text ? made_harmless(text) : NULL;
    db_status status;
    if (db_json_failures() != before || (text && !harmless))
        status = db_fail_memory(context, path);
    else if (!text)
        status = db_fail(
            context, DB_ERROR_INPUT,
            "%s: cannot be written as JSON: a text is not UTF-8, or a number not finite", path);
    else
        status = db_write_text(context, path, harmless, strlen(harmless));
    free(harmless);
    if (text) real_free(text);
    return status;
}
#else
typedef int db_without_jansson;
#endif
