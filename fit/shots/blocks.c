/* States as blocks of bytes. */
#define _XOPEN_SOURCE 700
#include "fit/shots/blocks.h"

#include "base/context_internal.h"
#include "base/md5.h"
#include "fit/shots/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof((db_block_head *)NULL)->digest >= DB_MD5_TEXT_SIZE, "a digest has room");

/* Makes room for further bytes. */
static int grow(db_pieces *p, size_t bytes) {
    if (p->room - p->count >= bytes) return 1;
    const size_t room = 2 * p->room + bytes;
    char *const grown = p->failed ? NULL : realloc(p->bytes, room);
    if (!grown) return 0;
    p->bytes = grown;
    p->room = room;
    return 1;
}

void db_pieces_move(db_pieces *p, void *data, size_t bytes) {
    if (bytes == 0) return;
    if (p->failed || (p->reads ? p->room - p->count < bytes : !grow(p, bytes))) {
        p->failed = 1;
        return;
    }
    if (p->reads)
        memcpy(data, p->bytes + p->count, bytes);
    else
        memcpy(p->bytes + p->count, data, bytes);
    p->count += bytes;
}

void db_block_begin(db_pieces *block) {
    db_block_head none = { .bytes = 0 };
    *block = (db_pieces){ .bytes = NULL };
    db_pieces_move(block, &none, sizeof none);
}

/* Digest of head and bytes. */
static void digest_of_block(const char *block, size_t size, char text[32]) {
    memset(text, 0, 32);
    db_md5_base64(block, size, text);
}

void db_block_end(db_pieces *block, const char *name, db_block_head of) {
    if (block->failed) return;
    snprintf(of.name, sizeof of.name, "%s", name);
    of.bytes = block->count - sizeof of;
    memset(of.digest, 0, sizeof of.digest);
    memcpy(block->bytes, &of, sizeof of);
    digest_of_block(block->bytes, block->count, of.digest);
    memcpy(block->bytes, &of, sizeof of);
}

int db_block_head_in(const char *bytes, size_t size, db_block_head *head) {
    if (size < sizeof *head) return 0;
    memcpy(head, bytes, sizeof *head);
    return head->name[sizeof head->name - 1] == '\0' && head->bytes <= size - sizeof *head;
}

int db_block_may_replace(const char *path, const char *name) {
    char found[sizeof((db_block_head *)NULL)->name];
    const size_t length = strlen(name);
    struct stat status;
    if (stat(path, &status) != 0) return errno == ENOENT;
    if (S_ISDIR(status.st_mode)) return 1; /* no file replaces a folder */
    if (!S_ISREG(status.st_mode)) return 0;
    FILE *const file = fopen(path, "rb");
    if (!file) return 0;
    const size_t size = fread(found, 1, length, file);
    const int unknown = ferror(file);
    fclose(file);
    return !unknown && (size == 0 || (size == length && memcmp(found, name, length) == 0));
}

int db_block_open(char *block, size_t size, const char *name, db_pieces *pieces) {
    db_block_head head;
    char expected[32], found[32];
    if (!db_block_head_in(block, size, &head) || head.bytes != size - sizeof head) return 0;
    *pieces = (db_pieces){ block, sizeof head, size, 1, 0 };
    memcpy(expected, head.digest, sizeof expected);
    memset(block + offsetof(db_block_head, digest), 0, sizeof found);
    digest_of_block(block, size, found);
    memcpy(block + offsetof(db_block_head, digest), expected, sizeof expected);
    return strcmp(head.name, name) == 0 && memcmp(expected, found, sizeof found) == 0;
}

db_status db_block_is_damaged(db_context *context, const char *path) {
    return db_fail(context, DB_ERROR_INPUT, "%s: is damaged", path);
}

db_status db_block_load(db_context *context, const char *path, long long at, size_t size,
                        char **bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    *bytes = malloc(size + 1);
    const int done = file >= 0 && *bytes && db_transfer_bytes(file, *bytes, size, at, 0);
    if (file >= 0) close(file);
    if (done) return DB_OK;
    return *bytes ? db_fail(context, DB_ERROR_FILE, "%s: is no longer as it was when the run began",
                            path)
                  : db_fail_memory(context, path);
}
