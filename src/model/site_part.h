/* The layout in memory of structure factors by photon energy, for kernels (see db_site_kinds). */
#ifndef DB_MODEL_SITE_PART_H
#define DB_MODEL_SITE_PART_H

#include "ad/device_language.h"

#include <stddef.h>

/* f' and f'' of all kinds, and numbers of an entry of db_site_kinds.part, at most. */
enum { DB_MOST_SITE_CURVES = 8, DB_MOST_SITE_PART = 2 + DB_MOST_SITE_CURVES };

/* Numbers of an entry. */
AD_PORTABLE_FN size_t db_site_part(int kinds) { return 2 + 2 * (size_t)kinds; }

#endif
