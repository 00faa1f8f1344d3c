/* PGM pictures: 8-bit grey. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "base/atomic_file.h"
#include "base/c_locale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char grey(float intensity, double scale) {
    const double level = (double)intensity * scale;
    if (!(level > 0)) return 0;
    return level > 255 ? 255 : (unsigned char)level;
}

db_status db_write_pgm(db_context *context, const char *path, const float *pixels, int fast_pixels,
                       int slow_pixels, double scale) {
    if (fast_pixels < 1 || slow_pixels < 1)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected at least 1 x 1 pixels, found %d x %d",
                       path, fast_pixels, slow_pixels);
    if (!(scale > 0 && isfinite(scale)))
        return db_fail(context, DB_ERROR_USAGE, "%s: expected a finite scale > 0, found %g", path,
                       scale);
    char header[128];
    const db_c_locale locale = db_c_locale_enter();
    const int length = snprintf(header, sizeof header, "P5\n%d %d\n# pixels scaled by %g\n255\n",
                                fast_pixels, slow_pixels, scale);
    db_c_locale_leave(locale);
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    unsigned char *levels = malloc(count);
    if (!levels) return db_fail_memory(context, "the PGM image");
    for (size_t i = 0; i < count; i++) levels[i] = grey(pixels[i], scale);
    const db_file_part parts[] = { { header, (size_t)length }, { levels, count } };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(levels);
    return status;
}
