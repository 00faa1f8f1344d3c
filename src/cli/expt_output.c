#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/expt_output.h"

#include "base/path.h"
#include "cli/complaint.h"
#include "io/dxtbx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

db_status db_expt_check(const db_settings *settings) {
    if (!settings->expt_file) return DB_OK;
    if (!strstr(db_features(), "JSON"))
        return db_complain(settings->command, DB_ERROR_UNSUPPORTED,
                           "-exptfile: this build has no JSON support");
    if (settings->setup.curved)
        return db_complain(settings->command, DB_ERROR_UNSUPPORTED,
                           "-exptfile: a DIALS experiment list holds flat panels, not a curved "
                           "detector (-curved_det)");
    return DB_OK;
}

/* The image as the list names it; to be freed. NULL without memory. */
static char *name_in_list(const char *list, const char *image) {
    const size_t folder = db_folder_length(list);
    if (folder == db_folder_length(image) && memcmp(list, image, folder) == 0)
        return strdup(image + folder);
    char *whole = realpath(image, NULL);
    return whole ? whole : strdup(image);
}

static int is_numbered(db_context *context, const char *image) {
    db_image_template made;
    if (db_image_template_of(context, image, &made) != DB_OK) return 0;
    free(made.text);
    return made.numbered;
}

db_status db_expt_output(const db_session *session, const char *image, double pedestal,
                         double gain) {
    const db_settings *s = &session->settings;
    if (!s->expt_file) return DB_OK;
    if (!s->quiet) printf("writing %s as a DIALS experiment list\n", db_shown_path(s->expt_file));
    if (!image || !is_numbered(session->context, image)) {
        if (image && !s->quiet)
            db_remark(
                s->command,
                "-exptfile leaves the image %s out: dxtbx reads SMV images only with a number "
                "before the extension, as in image_0001.img",
                db_shown_path(image));
        return db_write_expt(session->context, s->expt_file, &session->experiment, NULL);
    }
    char *name = name_in_list(s->expt_file, image);
    const db_expt_image described = { .path = name ? name : image,
                                      .pedestal = pedestal,
                                      .gain = gain };
    const db_status status =
        db_write_expt(session->context, s->expt_file, &session->experiment, &described);
    free(name);
    return status;
}
