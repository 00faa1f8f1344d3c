/* Checks of arguments that all functions of the library share. */
#ifndef DB_BASE_GIVEN_H
#define DB_BASE_GIVEN_H

#include <dualbragg/context.h>
#include <stddef.h>

/* DB_ERROR_USAGE with "<what>: ...", unless the list exists or has no elements. */
DB_API db_status db_need_list(db_context *context, const char *what, const void *list,
                              size_t count);

/* DB_ERROR_USAGE, unless a value of an enumeration is 0 to last. */
DB_API db_status db_need_choice(db_context *context, const char *what, int value, int last);

/* DB_ERROR_USAGE, unless the members reserved for later versions are 0. */
DB_API db_status db_need_zeros(db_context *context, const char *what, const void *reserved,
                               size_t bytes);

/* db_need_zeros for the member `reserved` of a struct. */
#define DB_NEED_ZEROS(context, what, given)                                                        \
    db_need_zeros((context), (what), (given)->reserved, sizeof(given)->reserved)

#endif
