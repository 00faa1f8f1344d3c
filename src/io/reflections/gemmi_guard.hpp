// What stands between gemmi's exceptions and C.
#ifndef DB_IO_GEMMI_GUARD_HPP
#define DB_IO_GEMMI_GUARD_HPP

extern "C" {
#include "base/context_internal.h"
}

#include <cstdint> // which headers of some versions of gemmi leave to others
#include <new>
#include <stdexcept>
#include <string>

namespace {

// A call of ours that failed; its message is in the context.
struct call_failed {
    db_status status;
};

inline void try_to(db_status status) {
    if (status != DB_OK) throw call_failed{ status };
}

template <typename Work> db_status guarded(db_context *context, const char *path, Work work) {
    try {
        work();
        return DB_OK;
    } catch (const call_failed &failure) {
        return failure.status;
    } catch (const std::bad_alloc &) {
        return db_fail_memory(context, path);
    } catch (const std::exception &e) {
        return db_fail(context, DB_ERROR_INPUT, "%s: %.600s", path, e.what());
    }
}

[[noreturn]] inline void fail(const std::string &text) { throw std::runtime_error(text); }

} // namespace

#endif
