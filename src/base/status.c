#include <dualbragg/status.h>

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
