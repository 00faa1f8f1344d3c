/* A list of shots: which images there are, and what is said of each. */
#ifndef DB_FIT_SHOTS_SHOT_LIST_H
#define DB_FIT_SHOTS_SHOT_LIST_H

#include <dualbragg/fit_shots.h>

typedef struct db_shot_entry {
    char *name;         /* of the image or configuration, as opened */
    int line;           /* in the list, from 1; of an experiment list: its number, from 0 */
    int is_config;      /* 1: name is a configuration */
    size_t count;       /* "key.path=value" */
    char **override;    /* file names in them as opened */
    db_fit_spots spots; /* reflections that get shoeboxes, once read */
    int has_spots;
    /* What the image's header completed, once it has been read. */
    db_setup *setup; /* owned; names of files in it are not to be used */
    double gain, pedestal, trusted[2];
} db_shot_entry;

struct db_fit_shot_list {
    db_fit_config config; /* of all */
    size_t override_count;
    char **override; /* of all */
    size_t count;
    db_shot_entry *entry;
};

/* A new, empty entry; NULL: out of memory. */
db_shot_entry *db_shot_list_add(db_fit_shot_list *list, const char *name, int line);

/* Adds "key=value" to an entry; 0: out of memory. */
int db_shot_entry_add(db_shot_entry *entry, const char *override);

/* "folder of beside" + name, unless name begins with '/'; NULL: out of memory. */
char *db_name_beside(const char *beside, const char *name);

/* The same with what is known from its image. DB_ERROR_USAGE if that has not been read. */
db_status db_shot_list_completed(db_context *context, const db_fit_shot_list *list, size_t shot,
                                 db_fit_config *config);

/* Fills the list from a text file, or from a DIALS experiment list. */
db_status db_shot_list_read_text(db_context *context, const char *path, db_fit_shot_list *list);
db_status db_shot_list_read_expt(db_context *context, const char *path, db_fit_shot_list *list);

#endif
