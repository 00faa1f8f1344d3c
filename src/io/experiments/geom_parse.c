/* The lines of CrystFEL's geometry files. */
#include "io/experiments/geom.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_PANELS = 4096, LARGEST_SIDE = 65535, MOST_REGIONS = 10000 };

/* A line in parts: panel/key = value, or key = value. */
typedef struct line {
    db_geom *geom;
    size_t number;
    char *owner; /* panel or bad region; NULL: none */
    char *key;
    char *value;
} line;

static db_status fail_line(const line *l, const char *expected) {
    return db_fail(l->geom->context, DB_ERROR_INPUT, "%s:%zu: %s%s%s: expected %s, found '%.60s'",
                   l->geom->layout->path, l->number, l->owner ? l->owner : "", l->owner ? "/" : "",
                   l->key, expected, l->value);
}

static db_status put_word(const db_geom *geom, db_name_table *table, const char *name,
                          size_t number) {
    if (db_name_table_put(table, name, strlen(name), number)) return DB_OK;
    return db_fail_memory(geom->context, geom->layout->path);
}

/* Remembers a key that is not used (one of CrystFEL, or misspelt), for a notice after all lines. */
static db_status pass_over(const line *l) {
    db_geom *const geom = l->geom;
    const size_t length = strlen(geom->unused_text);
    size_t before;
    if (db_name_table_find(&geom->unused, l->key, strlen(l->key), &before)) return DB_OK;
    if (length + strlen(l->key) + 32 < sizeof geom->unused_text)
        snprintf(geom->unused_text + length, sizeof geom->unused_text - length, "%s%s (line %zu)",
                 length ? ", " : "", l->key, l->number);
    else if (length && geom->unused_text[length - 1] == ')')
        strcpy(geom->unused_text + length, ", ...");
    return put_word(geom, &geom->unused, l->key, l->number);
}

static char *trimmed(char *text) {
    text += strspn(text, DB_WHITE_SPACE);
    size_t length = strlen(text);
    while (length && strchr(DB_WHITE_SPACE, text[length - 1])) length--;
    text[length] = '\0';
    return text;
}

/* Cuts a line at its comment and into parts; 0: nothing is left; -1: there is no '='. */
static int split_line(char *text, line *l) {
    text[strcspn(text, ";")] = '\0';
    text = trimmed(text);
    if (!*text) return 0;
    char *const equals = strchr(text, '=');
    l->key = text;
    l->owner = NULL;
    l->value = text;
    if (!equals) return -1;
    *equals = '\0';
    l->value = trimmed(equals + 1);
    text = trimmed(text);
    char *const slash = strchr(text, '/');
    if (slash) {
        *slash = '\0';
        l->owner = text;
        l->key = slash + 1;
    }
    return 1;
}

static db_status read_number(const line *l, double *value) {
    const db_word word = { l->value, strlen(l->value) };
    return db_word_number(word, value) ? DB_OK : fail_line(l, "a number");
}

static db_status read_positive(const line *l, double *value) {
    DB_TRY(read_number(l, value));
    return *value > 0 ? DB_OK : fail_line(l, "a number > 0");
}

/* Reads the number of a pixel, which may have a fraction of 0. */
static db_status read_pixel(const line *l, int *value) {
    double number;
    DB_TRY(read_number(l, &number));
    if (!(number >= 0 && number <= LARGEST_SIDE) || floor(number) != number)
        return fail_line(l, "the number of a pixel, 0 to 65535");
    *value = (int)number;
    return DB_OK;
}

static db_status read_flag(const line *l, int *value) {
    double number = 0;
    *value = strcasecmp(l->value, "true") == 0;
    if (*value || strcasecmp(l->value, "false") == 0) return DB_OK;
    DB_TRY(read_number(l, &number));
    *value = number != 0;
    return DB_OK;
}

/* Reads a direction such as +0.99x -0.01y, or y. */
static db_status read_direction(const line *l, double v[3]) {
    const char *at = l->value;
    int terms = 0;
    v[0] = v[1] = v[2] = 0;
    for (at += strspn(at, DB_WHITE_SPACE); *at; at += strspn(at, DB_WHITE_SPACE), terms++) {
        const double sign = *at == '-' ? -1 : 1;
        if (*at == '+' || *at == '-')
            at++;
        else if (terms)
            return fail_line(l, "a sum such as -0.01x +0.99y");
        at += strspn(at, DB_WHITE_SPACE);
        db_word word = { at, 0 };
        while (
            strchr("0123456789.eE", at[word.length]) ||
            (word.length && strchr("+-", at[word.length]) && strchr("eE", at[word.length - 1]))) {
            if (!at[word.length]) break;
            word.length++;
        }
        double factor = 1;
        if (word.length && !db_word_number(word, &factor))
            return fail_line(l, "a sum such as -0.01x +0.99y");
        at += word.length;
        at += strspn(at, DB_WHITE_SPACE "*");
        if (*at < 'x' || *at > 'z') return fail_line(l, "a sum such as -0.01x +0.99y");
        v[*at++ - 'x'] += sign * factor;
    }
    return terms ? DB_OK : fail_line(l, "a sum such as -0.01x +0.99y");
}

static db_status read_dimension(const line *l, long dim[DB_LAYOUT_DIMS]) {
    const char *const digit = l->key + 3;
    double index;
    if (*digit < '0' || *digit >= '0' + DB_LAYOUT_DIMS || digit[1])
        return fail_line(l, "a dimension dim0 to dim7");
    long *const one = &dim[*digit - '0'];
    if (strcmp(l->value, "fs") == 0)
        *one = DB_DIM_FAST;
    else if (strcmp(l->value, "ss") == 0)
        *one = DB_DIM_SLOW;
    else if (strcmp(l->value, "%") == 0)
        *one = DB_DIM_IMAGE;
    else if (db_word_number((db_word){ l->value, strlen(l->value) }, &index) && index >= 0 &&
             index < 1e9 && floor(index) == index)
        *one = (long)index;
    else
        return fail_line(l, "fs, ss, % or an index from 0 on");
    return DB_OK;
}

/* Bits, decimal or hexadecimal. */
static db_status read_bits(const line *l, uint32_t *bits) {
    char *end;
    const unsigned long long value = strtoull(l->value, &end, 0);
    if (end == l->value || (*end && *end != '.') || *l->value == '-' || value > UINT32_MAX)
        return fail_line(l, "bits as a whole number of at most 32 bits, such as 0xffff");
    *bits = (uint32_t)value;
    return DB_OK;
}

/* maskN_data, maskN_file, maskN_goodbits, maskN_badbits, and the older mask, mask_file, mask_good,
 * mask_bad. */
static db_status read_mask(const line *l, db_layout_panel *at) {
    const char *what = l->key + 4;
    size_t n = 0;
    if (*what >= '0' && *what < '0' + DB_LAYOUT_MASKS) n = (size_t)(*what++ - '0');
    db_layout_mask *const mask = &at->mask[n];
    if (!*what || strcmp(what, "_data") == 0) {
        mask->data = l->value;
        return *l->value == '/' ? DB_OK : fail_line(l, "a path in a file, from / on");
    }
    if (strcmp(what, "_file") == 0) {
        mask->file = l->value;
        return DB_OK;
    }
    if (strcmp(what, "_good") == 0 || strcmp(what, "_goodbits") == 0)
        return read_bits(l, &mask->good);
    if (strcmp(what, "_bad") == 0 || strcmp(what, "_badbits") == 0) return read_bits(l, &mask->bad);
    return pass_over(l); /* masks of later versions */
}

static db_status read_marks(const line *l, db_geom_panel *panel, db_layout_panel *at) {
    double value;
    DB_TRY(read_number(l, &value));
    if (strcmp(l->key, "flag_lessthan") == 0)
        panel->least = value;
    else if (strcmp(l->key, "flag_morethan") == 0)
        panel->most = value;
    else if (strcmp(l->key, "flag_equal") == 0) {
        if (at->marked_count == DB_LAYOUT_FLAGS)
            return fail_line(l, "at most 8 values of bad pixels");
        at->marked[at->marked_count++] = value;
    } else
        return pass_over(l);
    return DB_OK;
}

static db_status read_panel_key(const line *l, db_geom_panel *panel, db_layout_panel *at) {
    const struct {
        const char *key;
        double *number;
    } numbers[] = { { "corner_x", &panel->corner[0] },
                    { "corner_y", &panel->corner[1] },
                    { "coffset", &panel->coffset },
                    { "max_adu", &panel->max_adu } },
      positive[] = { { "res", &panel->res },
                     { "adu_per_eV", &panel->adu_per_ev },
                     { "adu_per_photon", &panel->adu_per_photon } };
    const struct {
        const char *key;
        int *pixel;
    } pixels[] = { { "min_fs", &at->first[0] },
                   { "min_ss", &at->first[1] },
                   { "max_fs", &at->size[0] },
                   { "max_ss", &at->size[1] },
                   { "mask_edge_pixels", &panel->edge } };
    const struct {
        const char *key;
        const char **text;
    } texts[] = { { "data", &at->data },
                  { "clen", &panel->clen },
                  { "saturation_map", &at->saturation.data },
                  { "saturation_map_file", &at->saturation.file } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(l->key, numbers[i].key) == 0) return read_number(l, numbers[i].number);
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        if (strcmp(l->key, positive[i].key) == 0) return read_positive(l, positive[i].number);
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
        if (strcmp(l->key, pixels[i].key) == 0) return read_pixel(l, pixels[i].pixel);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(l->key, texts[i].key) == 0) {
            *texts[i].text = l->value;
            return DB_OK;
        }
    if (strcmp(l->key, "fs") == 0) return read_direction(l, panel->fast);
    if (strcmp(l->key, "ss") == 0) return read_direction(l, panel->slow);
    if (strcmp(l->key, "no_index") == 0) return read_flag(l, &panel->no_index);
    if (strncmp(l->key, "dim", 3) == 0) return read_dimension(l, at->dim);
    if (strncmp(l->key, "mask", 4) == 0) return read_mask(l, at);
    if (strncmp(l->key, "flag_", 5) == 0) return read_marks(l, panel, at);
    return pass_over(l);
}

/* Values of the panels that are first named after this line. */
typedef struct defaults {
    db_geom_panel panel;
    db_layout_panel at;
} defaults;

static void init_defaults(defaults *d) {
    *d = (defaults){ .panel = { .fast = { NAN },
                                .slow = { NAN },
                                .corner = { NAN, NAN },
                                .res = NAN,
                                .adu_per_photon = NAN,
                                .adu_per_ev = NAN,
                                .max_adu = INFINITY,
                                .least = -INFINITY,
                                .most = INFINITY },
                     .at = { .first = { -1, -1 }, .size = { -1, -1 }, .data = "/data/data" } };
    for (int i = 0; i < DB_LAYOUT_DIMS; i++) d->at.dim[i] = DB_DIM_NONE;
    d->at.dim[0] = DB_DIM_SLOW;
    d->at.dim[1] = DB_DIM_FAST;
}

/* The panel of that name; a new one has the defaults of this place. */
static db_status find_panel(const line *l, const defaults *d, size_t *found) {
    db_geom *const geom = l->geom;
    db_image_layout *const layout = geom->layout;
    if (db_name_table_find(&geom->panels, l->owner, strlen(l->owner), found)) return DB_OK;
    if (layout->panel_count == MOST_PANELS)
        return db_fail(geom->context, DB_ERROR_INPUT, "%s:%zu: expected at most %d panels",
                       layout->path, l->number, MOST_PANELS);
    if (strlen(l->owner) >= sizeof d->at.name)
        return db_fail(geom->context, DB_ERROR_INPUT,
                       "%s:%zu: expected a name of at most 63 characters, found '%.80s'",
                       layout->path, l->number, l->owner);
    *found = layout->panel_count;
    DB_GROW(geom->context, geom->panel, geom->panel_room, *found + 1, layout->path);
    DB_GROW(geom->context, layout->panel, geom->layout_room, *found + 1, layout->path);
    geom->panel[*found] = d->panel;
    geom->panel[*found].line = l->number;
    layout->panel[*found] = d->at;
    strcpy(layout->panel[*found].name, l->owner);
    layout->panel_count++;
    return put_word(geom, &geom->panels, l->owner, *found);
}

static db_status read_bad_key(const line *l) {
    static const char *const keys[2][4] = { { "min_fs", "max_fs", "min_ss", "max_ss" },
                                            { "min_x", "max_x", "min_y", "max_y" } };
    db_geom *const geom = l->geom;
    size_t b;
    if (!db_name_table_find(&geom->regions, l->owner, strlen(l->owner), &b)) {
        if (geom->bad_count == MOST_REGIONS) return fail_line(l, "at most 10000 bad regions");
        DB_GROW(geom->context, geom->bad, geom->bad_room, geom->bad_count + 1, geom->layout->path);
        b = geom->bad_count++;
        geom->bad[b] =
            (db_geom_bad){ .name = l->owner, .range = { NAN, NAN, NAN, NAN }, .line = l->number };
        DB_TRY(put_word(geom, &geom->regions, l->owner, b));
    }
    db_geom_bad *const bad = &geom->bad[b];
    if (strcmp(l->key, "panel") == 0) {
        bad->panel = l->value;
        return DB_OK;
    }
    for (int kind = 1; kind <= 2; kind++)
        for (int i = 0; i < 4; i++) {
            if (strcmp(l->key, keys[kind - 1][i]) != 0) continue;
            if (bad->kind && bad->kind != kind)
                return fail_line(l, "a region either by fs and ss or by x and y");
            bad->kind = kind;
            return read_number(l, &bad->range[i]);
        }
    return pass_over(l);
}

static db_status add_group(const line *l) {
    static const char *const starts[] = { [DB_GEOM_GROUP] = "group_",
                                          [DB_GEOM_RIGID] = "rigid_group_",
                                          [DB_GEOM_COLLECTION] = "rigid_group_collection_" };
    db_geom *const geom = l->geom;
    int kind = DB_GEOM_COLLECTION;
    while (strncmp(l->key, starts[kind], strlen(starts[kind])) != 0)
        if (kind-- == 0) return pass_over(l);
    DB_GROW(geom->context, geom->group, geom->group_room, geom->group_count + 1,
            geom->layout->path);
    db_geom_group *const group = &geom->group[geom->group_count++];
    group->name = l->key + strlen(starts[kind]);
    group->members = l->value;
    group->line = l->number;
    group->kind = kind;
    return put_word(geom, &geom->groups[kind], group->name, geom->group_count - 1);
}

static db_status read_top_key(const line *l, defaults *d) {
    db_geom *const geom = l->geom;
    const struct {
        const char *key;
        const char **text;
    } texts[] = { { "photon_energy", &geom->wavelength },
                  { "wavelength", &geom->wavelength },
                  { "electron_voltage", &geom->wavelength },
                  { "detector_shift_x", &geom->shift[0] },
                  { "detector_shift_y", &geom->shift[1] } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(l->key, texts[i].key) == 0) {
            *texts[i].text = l->value;
            if (texts[i].text == &geom->wavelength) geom->wavelength_key = texts[i].key;
            return DB_OK;
        }
    if (strstr(l->key, "group")) return add_group(l);
    if (strcmp(l->key, "clen") == 0 &&
        !d->panel.clen) /* newer files give it once, after the panels, for all of them */
        for (size_t p = 0; p < geom->layout->panel_count; p++)
            if (!geom->panel[p].clen) geom->panel[p].clen = l->value;
    return read_panel_key(l, &d->panel, &d->at);
}

static db_status read_line(const line *l, defaults *d) {
    size_t panel = 0;
    if (!l->owner) return read_top_key(l, d);
    if (strncmp(l->owner, "bad", 3) == 0) return read_bad_key(l);
    DB_TRY(find_panel(l, d, &panel));
    return read_panel_key(l, &l->geom->panel[panel], &l->geom->layout->panel[panel]);
}

static db_status miss(const db_geom *geom, size_t panel, const char *what) {
    return db_fail(geom->context, DB_ERROR_INPUT, "%s:%zu: panel %s: expected %s, found none",
                   geom->layout->path, geom->panel[panel].line, geom->layout->panel[panel].name,
                   what);
}

/* The two dimensions of a panel in its array. */
static db_status check_dimensions(const db_geom *geom, size_t p) {
    const long *const dim = geom->layout->panel[p].dim;
    int rank = 0, found = 0;
    while (rank < DB_LAYOUT_DIMS && dim[rank] != DB_DIM_NONE) rank++;
    for (int i = 0; i < rank; i++) found += dim[i] == DB_DIM_FAST || dim[i] == DB_DIM_SLOW;
    if (found == 2 && rank >= 2 && dim[rank - 1] == DB_DIM_FAST && dim[rank - 2] == DB_DIM_SLOW)
        return DB_OK;
    return db_fail(geom->context, DB_ERROR_UNSUPPORTED,
                   "%s:%zu: panel %s: expected ss and fs as the last two of its dimensions dim0, "
                   "dim1 ...",
                   geom->layout->path, geom->panel[p].line, geom->layout->panel[p].name);
}

/* Turns the last pixel into a number of pixels. */
static db_status count_pixels(const db_geom *geom, size_t p, int axis) {
    static const char *const names[] = { "fs", "ss" };
    db_layout_panel *const at = &geom->layout->panel[p];
    at->size[axis] -= at->first[axis] - 1;
    if (at->size[axis] >= 1) return DB_OK;
    return db_fail(geom->context, DB_ERROR_INPUT,
                   "%s:%zu: panel %s: expected max_%s of at least min_%s, %d, found %d",
                   geom->layout->path, geom->panel[p].line, at->name, names[axis], names[axis],
                   at->first[axis], at->size[axis] + at->first[axis] - 1);
}

static db_status check_panel(const db_geom *geom, size_t p) {
    const db_geom_panel *const panel = &geom->panel[p];
    db_layout_panel *const at = &geom->layout->panel[p];
    static const char *const sides[] = { "min_fs", "min_ss", "max_fs", "max_ss" };
    const int given[] = { at->first[0], at->first[1], at->size[0], at->size[1] };
    for (int i = 0; i < 4; i++)
        if (given[i] < 0) return miss(geom, p, sides[i]);
    if (isnan(panel->fast[0])) return miss(geom, p, "fs");
    if (isnan(panel->slow[0])) return miss(geom, p, "ss");
    if (isnan(panel->corner[0])) return miss(geom, p, "corner_x");
    if (isnan(panel->corner[1])) return miss(geom, p, "corner_y");
    if (isnan(panel->res)) return miss(geom, p, "res > 0 (pixels per metre)");
    if (!panel->clen) return miss(geom, p, "clen");
    for (int i = 0; i < 2; i++) {
        DB_TRY(count_pixels(geom, p, i));
        at->corner[i] = panel->corner[i];
        at->fast[i] = panel->fast[i];
        at->slow[i] = panel->slow[i];
    }
    return check_dimensions(geom, p);
}

static db_status parse_line(db_geom *geom, size_t first_line) {
    defaults d;
    char *next = geom->layout->text;
    init_defaults(&d);
    for (line l = { .geom = geom, .number = first_line }; *next; l.number++) {
        char *const text = next;
        next += strcspn(next, "\r\n");
        const int windows = *next == '\r' && next[1] == '\n';
        if (*next) *next++ = '\0';
        next += windows;
        const int found = split_line(text, &l);
        if (found < 0) {
            l.key = "line";
            return fail_line(&l, "KEY = VALUE or PANEL/KEY = VALUE");
        }
        if (found) DB_TRY(read_line(&l, &d));
    }
    if (geom->layout->panel_count == 0)
        return db_fail(geom->context, DB_ERROR_INPUT,
                       "%s: expected panels (PANEL/min_fs = 0 ...), found none",
                       geom->layout->path);
    for (size_t p = 0; p < geom->layout->panel_count; p++) DB_TRY(check_panel(geom, p));
    if (*geom->unused_text)
        db_notice(geom->context, "%s: not used: %s", geom->layout->path, geom->unused_text);
    return DB_OK;
}

db_status db_geom_parse(db_context *context, const char *path, char *text, size_t first_line,
                        db_geom *geom) {
    *geom = (db_geom){ .context = context, .layout = db_image_layout_create(path, 0) };
    if (!geom->layout || !text) {
        free(text);
        return db_fail_memory(context, path);
    }
    geom->layout->text = text;
    return parse_line(geom, first_line);
}

void db_geom_clear(db_geom *geom) {
    db_image_layout_destroy(geom->layout);
    free(geom->panel);
    free(geom->bad);
    free(geom->group);
    db_name_table_clear(&geom->panels);
    db_name_table_clear(&geom->regions);
    db_name_table_clear(&geom->unused);
    for (int kind = 0; kind < DB_GEOM_GROUP_KINDS; kind++) db_name_table_clear(&geom->groups[kind]);
    memset(geom, 0, sizeof *geom);
}

/* 1 for a key that geometries have (each has one of these at least), and other files of KEY = VALUE do not. */
static int is_known(const char *key, size_t length) {
    static const char *const keys[] = { "min_fs",   "max_fs",        "fs",
                                        "corner_x", "adu_per_eV",    "photon_energy",
                                        "clen",     "coffset",       "dim0",
                                        "res",      "adu_per_photon" };
    const char *const slash = memchr(key, '/', length);
    if (slash) {
        length -= (size_t)(slash + 1 - key);
        key = slash + 1;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0) return 1;
    return 0;
}

int db_is_geom(const char *text) {
    for (;;) {
        text += strspn(text, DB_WHITE_SPACE "\r\n");
        const size_t length = strcspn(text, "\r\n");
        if (length == 0) return 0;
        if (*text != ';') {
            size_t key = strcspn(text, "=;");
            if (key >= length || text[key] != '=') return 0;
            while (key && strchr(DB_WHITE_SPACE, text[key - 1])) key--;
            if (is_known(text, key)) return 1;
        }
        text += length;
    }
}
