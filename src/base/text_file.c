#include <dualbragg/io.h>

#include "base/atomic_file.h"

db_status db_write_text(db_context *context, const char *path, const char *text, size_t length) {
    const db_file_part part = { text, length };
    return db_write_atomically(context, path, &part, 1);
}
