/* Entries of a list of shots: images, and the list's settings for each. */
#ifndef DB_FIT_LISTS_SHOT_ENTRIES_H
#define DB_FIT_LISTS_SHOT_ENTRIES_H

#include <dualbragg/fit_shots.h>

typedef struct db_shot_entry {
    char *name;      /* of the image or configuration, as opened */
    int line;        /* in the list, from 1; of an experiment list: its number, from 0 */
    int is_config;   /* 1: name is a configuration */
    size_t count;    /* "key.path=value" */
    char **override; /* overrides, with file names as opened */
    size_t image;    /* number of the first entry with the same image */
    size_t setting[DB_FIT_SETTINGS]; /* of a series, from 0 */
    db_fit_spots spots;              /* reflections that get shoeboxes, once read */
    int has_spots;
    /* The set-up, completed by the image's header once that was read. */
    db_setup *setup; /* owned; its file names must not be used */
    double gain, readout_noise, pedestal, trusted[2];
    int centring; /* of the lattice, that its symmetry names; 0: none */
} db_shot_entry;

struct db_fit_shot_list {
    db_fit_config config;           /* of all */
    db_structure_factors reference; /* of joint intensities, once read; owned */
    size_t override_count;
    char **override; /* of all */
    size_t count;
    db_shot_entry *entry;
    /* Of a series: settings of the crystal, and fewest frames with one of them (0: not counted yet). has_settings: 1: several, of
     * crystal, spindle or detector; sets_anew: and the orientation was sought */
    size_t crystal_settings, fewest_frames;
    int has_settings, sets_anew;
    /* lattices found on one image, which are the entries, or on the frames of a series; 0: none */
    size_t lattice_count;
    db_fit_lattice lattice[DB_FIT_MOST_LATTICES];
};

/* Appends an entry, with "key.path=value" overrides; NULL: out of memory. */
db_shot_entry *db_shot_entries_add(db_fit_shot_list *list, const char *name, int line);
int db_shot_entry_override(db_shot_entry *entry, const char *override); /* 0: out of memory */

/* Fills the list from an experiment list (db_list_shots), or else from a text file: a name in each line, then
 * KEY=VALUE. */
db_status db_shot_entries_read(db_context *context, const char *path, db_fit_shot_list *list);

#endif
