/* The last JSON document, with its number of users. */
#if defined(DB_HAVE_JANSSON)
#include "base/json_kept.h"

#include "base/context_internal.h"
#include "base/file_stamp.h"

#include <pthread.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static struct {
    db_file_stamp stamp;
    json_t *document; /* NULL: none */
} kept;

static json_t *borrow_document(const db_file_stamp *stamp) {
    json_t *found = NULL;
    pthread_mutex_lock(&one_at_a_time);
    if (kept.document && db_file_stamp_same(&kept.stamp, stamp)) found = json_incref(kept.document);
    pthread_mutex_unlock(&one_at_a_time);
    return found;
}

static void keep_document(const db_file_stamp *stamp, json_t *document) {
    pthread_mutex_lock(&one_at_a_time);
    json_decref(kept.document);
    kept.stamp = *stamp;
    kept.document = json_incref(document);
    pthread_mutex_unlock(&one_at_a_time);
}

db_status db_json_open_kept(db_context *context, const char *path, const json_t **document,
                            db_json *root) {
    db_file_stamp stamp;
    const int settled = db_file_stamp_take(path, &stamp);
    json_t *own = settled ? borrow_document(&stamp) : NULL;
    *document = own;
    if (own) {
        *root = (db_json){ context, path, "", own };
        return DB_OK;
    }
    DB_TRY(db_json_open(context, path, &own, root));
    if (settled) keep_document(&stamp, own);
    *document = own;
    return DB_OK;
}

void db_json_give_back(const json_t *document) {
    pthread_mutex_lock(&one_at_a_time);
    json_decref((json_t *)document);
    pthread_mutex_unlock(&one_at_a_time);
}
#else
typedef int db_kept_without_jansson;
#endif
