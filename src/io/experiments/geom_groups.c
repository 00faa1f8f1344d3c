/* Groups of panels in CrystFEL's geometry files. */
#include "io/experiments/geom.h"

#include "base/context_internal.h"
#include "base/text_reader.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 };

/* The next member of a list; length 0: there is none. */
static db_word next_member(const char **cursor) { return db_next_word(cursor, "," DB_WHITE_SPACE); }

/* The last group of that name; NULL: there is none. */
static const db_geom_group *find_group(const db_geom *geom, db_word name, int kind) {
    size_t g;
    if (!db_name_table_find(&geom->groups[kind], name.start, name.length, &g)) return NULL;
    return &geom->group[g];
}

/* Their count: there is none of that name. */
static size_t find_panel(const db_geom *geom, db_word name) {
    size_t p;
    if (!db_name_table_find(&geom->panels, name.start, name.length, &p))
        return geom->layout->panel_count;
    return p;
}

static db_status fail_group(const db_geom *geom, const db_geom_group *group, db_word member) {
    return db_fail(geom->context, DB_ERROR_INPUT,
                   "%s:%zu: group %s: expected names of panels and of groups, found '%.*s'",
                   geom->layout->path, group->line, group->name, DB_WORD_ARGUMENTS(member));
}

/* The walk from the whole detector inwards. */
typedef struct walk {
    const db_geom *geom;
    db_expt_panel *said;
    int groups[DB_EXPT_MOST_LEVELS]; /* met on each level */
    int path[DB_EXPT_MOST_LEVELS], depth;
    size_t entered; /* groups so far: none is entered twice */
} walk;

static void place_group(const walk *w, size_t panel) {
    db_expt_panel *const said = &w->said[panel];
    said->level_count = w->depth < DB_EXPT_MOST_LEVELS ? w->depth : DB_EXPT_MOST_LEVELS;
    memcpy(said->group, w->path, sizeof said->group);
}

static db_status enter(walk *w, const db_geom_group *group) {
    const char *cursor = group->members;
    if (w->depth == DEEPEST || w->entered++ == w->geom->group_count)
        return db_fail(
            w->geom->context, DB_ERROR_INPUT,
            "%s:%zu: group %s: expected groups that are in one other group each, at most "
            "32 within another",
            w->geom->layout->path, group->line, group->name);
    if (w->depth < DB_EXPT_MOST_LEVELS) w->path[w->depth] = w->groups[w->depth]++;
    w->depth++;
    for (db_word m = next_member(&cursor); m.length; m = next_member(&cursor)) {
        const db_geom_group *const inner = find_group(w->geom, m, DB_GEOM_GROUP);
        const size_t panel = find_panel(w->geom, m);
        if (panel < w->geom->layout->panel_count)
            place_group(w, panel);
        else if (inner && inner != group)
            DB_TRY(enter(w, inner));
        else
            return fail_group(w->geom, group, m);
    }
    w->depth--;
    return DB_OK;
}

/* Adds a level from a collection of groups: old files have these in place of a hierarchy. */
static db_status add_collection(const db_geom *geom, const db_geom_group *collection,
                                db_expt_panel *said) {
    const char *cursor = collection->members;
    int number = 0;
    for (db_word name = next_member(&cursor); name.length; name = next_member(&cursor), number++) {
        const db_geom_group *const group = find_group(geom, name, DB_GEOM_RIGID);
        if (!group) return fail_group(geom, collection, name);
        const char *members = group->members;
        for (db_word m = next_member(&members); m.length; m = next_member(&members)) {
            const size_t p = find_panel(geom, m);
            if (p == geom->layout->panel_count) return fail_group(geom, group, m);
            if (said[p].level_count == DB_EXPT_MOST_LEVELS) continue;
            said[p].group[said[p].level_count++] = number;
        }
    }
    return DB_OK;
}

static int count_members(const db_geom_group *group) {
    const char *cursor = group->members;
    int count = 0;
    while (next_member(&cursor).length) count++;
    return count;
}

typedef struct collection {
    int members;
    size_t group;
} collection;

static int fewer_first(const void *a, const void *b) {
    const collection *const x = a;
    const collection *const y = b;
    if (x->members != y->members) return x->members < y->members ? -1 : 1;
    return x->group < y->group ? -1 : 1;
}

/* Adds all collections, those with fewer groups first, as the outer levels; of several with as many groups only
 * the first. */
static db_status add_collections(const db_geom *geom, db_expt_panel *said) {
    size_t count = 0;
    int last = 0;
    db_status status = DB_OK;
    if (!geom->group) return DB_OK;
    collection *const list = calloc(geom->group_count + 1, sizeof *list);
    if (!list) return db_fail_memory(geom->context, geom->layout->path);
    for (size_t g = 0; g < geom->group_count; g++)
        if (geom->group[g].kind == DB_GEOM_COLLECTION) {
            list[count] = (collection){ count_members(&geom->group[g]), g };
            count++;
        }
    qsort(list, count, sizeof *list, fewer_first);
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        if (list[i].members > last)
            status = add_collection(geom, &geom->group[list[i].group], said);
        last = list[i].members;
    }
    free(list);
    return status;
}

db_status db_geom_groups(const db_geom *geom, db_expt_content *content) {
    static const char all[] = "all";
    walk w = { .geom = geom, .said = content->panel };
    const db_geom_group *const whole =
        find_group(geom, (db_word){ all, sizeof all - 1 }, DB_GEOM_GROUP);
    for (size_t p = 0; p < content->panel_count; p++) content->panel[p].level_count = 1;
    return whole ? enter(&w, whole) : add_collections(geom, content->panel);
}
