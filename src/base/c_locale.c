#define _POSIX_C_SOURCE 200809L
/* Numbers with a decimal point, in every locale of the program. */
#include "base/c_locale.h"

#include <locale.h>

db_c_locale db_c_locale_enter(void) {
    const locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (db_c_locale){ .own = own, .previous = own ? uselocale(own) : (locale_t)0 };
}

void db_c_locale_leave(db_c_locale locale) {
    if (!locale.own) return; /* out of memory: nothing was changed */
    uselocale((locale_t)locale.previous);
    freelocale((locale_t)locale.own);
}
