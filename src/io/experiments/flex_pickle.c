/* Pickles of flex arrays. A pickle is a program for a machine with a stack. This one knows the instructions
 * that put numbers, texts, tuples and objects together; it calls nothing. An array is an object of the class
 * flex.bool, flex.double ... with the state (grid, bytes): the bytes are the number of elements and the
 * elements, each with its length (base 256, as the serialization of scitbx has it). */
#include "io/experiments/flex_pickle.h"

#include "base/context_internal.h"
#include "base/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Far more than the arrays of any detector need. */
enum { MOST_ITEMS = 1000000 };

typedef enum item_kind { NOTHING, MARK, NUMBER, TEXT, UTF8, TUPLE, NAME, OBJECT } item_kind;

typedef struct item {
    item_kind kind;
    double number;
    const unsigned char *text; /* of a name: without its module */
    size_t size;
    size_t first, count; /* members of a tuple; of an object its arguments */
    size_t name, state;  /* of an object: the items with its class and its state (0: none) */
} item;

typedef struct machine {
    db_context *context;
    const char *path;
    const unsigned char *at, *end;
    item *item;
    size_t item_count, item_room;
    size_t *stack;
    size_t depth, stack_room;
    size_t *memo;
    size_t memo_count, memo_room;
    size_t *member;
    size_t member_count, member_room;
} machine;

static db_status refuse_pickle(const machine *m, const char *found) {
    return db_fail(m->context, DB_ERROR_UNSUPPORTED,
                   "%s: expected pickled arrays of flex, one for each panel, as DIALS writes them, "
                   "found %s",
                   m->path, found);
}

static db_status truncated(const machine *m) {
    return db_fail(m->context, DB_ERROR_INPUT, "%s: truncated, or damaged", m->path);
}

static db_status need_bytes(const machine *m, size_t bytes) {
    return (size_t)(m->end - m->at) >= bytes ? DB_OK : truncated(m);
}

/* A whole number of `bytes` bytes, little-endian. */
static db_status take_length(machine *m, size_t bytes, size_t *value) {
    DB_TRY(need_bytes(m, bytes));
    *value = 0;
    for (size_t i = bytes; i-- > 0;) *value = *value << 8 | m->at[i];
    m->at += bytes;
    return DB_OK;
}

static db_status push(machine *m, size_t number) {
    DB_GROW(m->context, m->stack, m->stack_room, m->depth + 1, m->path);
    m->stack[m->depth++] = number;
    return DB_OK;
}

static db_status push_item(machine *m, item made) {
    if (m->item_count == MOST_ITEMS) return refuse_pickle(m, "more than a million values");
    DB_GROW(m->context, m->item, m->item_room, m->item_count + 1, m->path);
    m->item[m->item_count] = made;
    return push(m, m->item_count++);
}

static db_status pop(machine *m, size_t *number) {
    if (m->depth == 0) return truncated(m);
    *number = m->stack[--m->depth];
    return DB_OK;
}

static db_status push_number(machine *m, size_t bytes, int is_signed) {
    size_t value;
    DB_TRY(take_length(m, bytes, &value));
    const double number = is_signed ? (double)(int32_t)(uint32_t)value : (double)value;
    return push_item(m, (item){ .kind = NUMBER, .number = number });
}

static db_status push_text(machine *m, size_t bytes, item_kind kind) {
    size_t size;
    DB_TRY(take_length(m, bytes, &size));
    DB_TRY(need_bytes(m, size));
    const unsigned char *const text = m->at;
    m->at += size;
    return push_item(m, (item){ .kind = kind, .text = text, .size = size });
}

/* The last `count` of the stack as a tuple. */
static db_status push_tuple(machine *m, size_t count) {
    if (count > m->depth) return truncated(m);
    DB_GROW(m->context, m->member, m->member_room, m->member_count + count + 1, m->path);
    const item made = { .kind = TUPLE, .first = m->member_count, .count = count };
    m->depth -= count;
    for (size_t i = 0; i < count; i++) m->member[m->member_count++] = m->stack[m->depth + i];
    return push_item(m, made);
}

static db_status push_marked(machine *m) {
    size_t count = 0, mark;
    while (count < m->depth && m->item[m->stack[m->depth - 1 - count]].kind != MARK) count++;
    if (count == m->depth) return truncated(m);
    DB_TRY(push_tuple(m, count));
    const size_t made = m->stack[--m->depth];
    DB_TRY(pop(m, &mark));
    return push(m, made);
}

/* "module\nname\n". */
static db_status push_global(machine *m) {
    const unsigned char *const module_end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    const unsigned char *const name = module_end ? module_end + 1 : m->end;
    const unsigned char *const name_end = memchr(name, '\n', (size_t)(m->end - name));
    if (!name_end) return truncated(m);
    m->at = name_end + 1;
    return push_item(m, (item){ .kind = NAME, .text = name, .size = (size_t)(name_end - name) });
}

static db_status push_named(machine *m) {
    size_t name, module;
    DB_TRY(pop(m, &name));
    DB_TRY(pop(m, &module));
    item made = m->item[name];
    made.kind = NAME;
    return push_item(m, made);
}

static int is_named(const item *name, const char *text) {
    return name->kind == NAME && name->size == strlen(text) &&
           memcmp(name->text, text, name->size) == 0;
}

/* Makes an object of the called class. A call of codecs.encode (bytes before pickle protocol 3) gives its text. */
static db_status push_call(machine *m) {
    size_t arguments, name;
    DB_TRY(pop(m, &arguments));
    DB_TRY(pop(m, &name));
    const item *const given = &m->item[arguments];
    if (given->kind != TUPLE) return truncated(m);
    if (is_named(&m->item[name], "encode") && given->count > 0)
        return push(m, m->member[given->first]);
    return push_item(
        m, (item){ .kind = OBJECT, .name = name, .first = given->first, .count = given->count });
}

static db_status build_object(machine *m) {
    size_t state;
    DB_TRY(pop(m, &state));
    if (m->depth == 0) return truncated(m);
    m->item[m->stack[m->depth - 1]].state = state;
    return DB_OK;
}

static db_status put_value(machine *m, size_t place) {
    if (m->depth == 0 || place > MOST_ITEMS) return truncated(m);
    DB_GROW(m->context, m->memo, m->memo_room, place + 1, m->path);
    while (m->memo_count <= place) m->memo[m->memo_count++] = 0;
    m->memo[place] = m->stack[m->depth - 1];
    return DB_OK;
}

static db_status put_at(machine *m, size_t bytes) {
    size_t place;
    DB_TRY(take_length(m, bytes, &place));
    return put_value(m, place);
}

static db_status get_at(machine *m, size_t bytes) {
    size_t place;
    DB_TRY(take_length(m, bytes, &place));
    return place < m->memo_count ? push(m, m->memo[place]) : truncated(m);
}

static db_status skip(machine *m, size_t bytes) {
    DB_TRY(need_bytes(m, bytes));
    m->at += bytes;
    return DB_OK;
}

static db_status push_truth(machine *m, double truth) {
    return push_item(m, (item){ .kind = NUMBER, .number = truth });
}

/* Instructions that push a value. */
static db_status run_value(machine *m, unsigned char instruction, int *known) {
    switch (instruction) {
    case 'K': return push_number(m, 1, 0);
    case 'M': return push_number(m, 2, 0);
    case 'J': return push_number(m, 4, 1);
    case 0x88: return push_truth(m, 1);
    case 0x89: return push_truth(m, 0);
    case 'N': return push_item(m, (item){ .kind = NOTHING });
    case 'X': return push_text(m, 4, UTF8);
    case 0x8c: return push_text(m, 1, UTF8);
    case 0x8d: return push_text(m, 8, UTF8);
    case 'U':
    case 'C': return push_text(m, 1, TEXT);
    case 'T':
    case 'B': return push_text(m, 4, TEXT);
    case 0x8e: return push_text(m, 8, TEXT);
    default: *known = 0; return DB_OK;
    }
}

/* Instructions that put values together, or keep them. */
static db_status run_structure(machine *m, unsigned char instruction, int *known) {
    switch (instruction) {
    case 0x80: return skip(m, 1); /* the protocol */
    case 0x95: return skip(m, 8); /* the length of a frame */
    case '(': return push_item(m, (item){ .kind = MARK });
    case ')': return push_tuple(m, 0);
    case 't': return push_marked(m);
    case 0x85: return push_tuple(m, 1);
    case 0x86: return push_tuple(m, 2);
    case 0x87: return push_tuple(m, 3);
    case 'c': return push_global(m);
    case 0x93: return push_named(m);
    case 'R': return push_call(m);
    case 'b': return build_object(m);
    case 'q': return put_at(m, 1);
    case 'r': return put_at(m, 4);
    case 0x94: return put_value(m, m->memo_count);
    case 'h': return get_at(m, 1);
    case 'j': return get_at(m, 4);
    default: *known = 0; return DB_OK;
    }
}

/* Runs the pickle's program; *result: the item on top of the stack at the end. */
static db_status run_pickle(machine *m, size_t *result) {
    DB_TRY(push_item(m, (item){ .kind = NOTHING }));
    m->depth = 0;
    for (;;) {
        int value = 1, structure = 1;
        DB_TRY(need_bytes(m, 1));
        const unsigned char instruction = *m->at++;
        if (instruction == '.') return pop(m, result);
        DB_TRY(run_value(m, instruction, &value));
        if (!value) DB_TRY(run_structure(m, instruction, &structure));
        if (!structure) return refuse_pickle(m, "something else");
    }
}

/* The bytes of an array; utf8: they were pickled as Latin-1 characters, in UTF-8. */
typedef struct bytes {
    const unsigned char *at, *end;
    int utf8;
    int ended; /* 1: more was taken than there is */
} bytes;

static unsigned take_byte(bytes *b) {
    if (b->at == b->end) {
        b->ended = 1;
        return 0;
    }
    const unsigned first = *b->at++;
    if (!b->utf8 || first < 0x80 || b->at == b->end) return first;
    return (first & 3u) << 6 | (*b->at++ & 0x3fu);
}

/* The length of a number, with its sign; one byte less than this length follows. */
static int take_head(bytes *b, double *sign) {
    const unsigned head = take_byte(b);
    *sign = head > 0x80 ? -1 : 1;
    return (int)(head & 0x7fu);
}

static double take_whole(bytes *b) {
    double sign, value = 0, place = 1;
    const int length = take_head(b, &sign);
    for (int i = 1; i < length && !b->ended; i++, place *= 256) value += place * take_byte(b);
    return sign * value;
}

static double take_real(bytes *b) {
    double sign, value = 0, place = 1;
    const int length = take_head(b, &sign);
    if (length == 0) return 0;
    for (int i = 1; i < length && !b->ended; i++) value += (place /= 256) * take_byte(b);
    const double exponent = take_whole(b);
    return fabs(exponent) < 2000 ? sign * ldexp(value, (int)exponent) : NAN;
}

static double take_flag(bytes *b) { return take_byte(b) == '1'; }

/* The reader of a class's elements; NULL: its elements are no numbers. */
typedef double (*element_reader)(bytes *b);
static element_reader reader_of(const item *name) {
    static const struct {
        const char *name;
        element_reader reader;
    } classes[] = { { "bool", take_flag },  { "double", take_real }, { "float", take_real },
                    { "int", take_whole },  { "long", take_whole },  { "size_t", take_whole },
                    { "uint8", take_whole } };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (is_named(name, classes[i].name)) return classes[i].reader;
    return NULL;
}

static const item *pickled_member(const machine *m, const item *of, size_t index) {
    return index < of->count ? &m->item[m->member[of->first + index]] : &m->item[0];
}

/* The shape of an array: its grid is made of the first place and the end, slow before fast. */
static db_status check_shape(const machine *m, const item *grid, const int shape[2]) {
    const item *const first = pickled_member(m, grid, 0);
    const item *const end = pickled_member(m, grid, 1);
    double size[2] = { NAN, NAN }; /* slow, fast */
    for (size_t i = 0; i < 2; i++) {
        const item *const from = pickled_member(m, first, i);
        const item *const to = pickled_member(m, end, i);
        if (first->kind == TUPLE && first->count == 2 && end->kind == TUPLE && end->count == 2 &&
            from->kind == NUMBER && to->kind == NUMBER)
            size[i] = to->number - from->number;
    }
    if (size[0] == shape[1] && size[1] == shape[0]) return DB_OK;
    return db_fail(m->context, DB_ERROR_INPUT,
                   "%s: expected an array of %d x %d pixels (fast, slow), found %.0f x %.0f",
                   m->path, shape[0], shape[1], size[1], size[0]);
}

static db_status read_array(const machine *m, const item *array, const int shape[2], float *value) {
    const item *const state = &m->item[array->state];
    const item *const data = pickled_member(m, state, 1);
    const element_reader take =
        array->kind == OBJECT ? reader_of(&m->item[array->name]) : (element_reader)NULL;
    const size_t count = (size_t)shape[0] * (size_t)shape[1];
    if (!take || state->kind != TUPLE || (data->kind != TEXT && data->kind != UTF8))
        return refuse_pickle(m, "something else");
    DB_TRY(check_shape(m, pickled_member(m, state, 0), shape));
    bytes b = { data->text, data->text + data->size, data->kind == UTF8, 0 };
    const double listed = take_whole(&b);
    if (listed != (double)count) return truncated(m);
    for (size_t i = 0; i < count && !b.ended; i++) value[i] = (float)take(&b);
    return b.ended ? truncated(m) : DB_OK;
}

/* One array, or a tuple of them. */
static db_status read_arrays(const machine *m, const item *result, size_t panel_count,
                             const int (*shape)[2], float *value) {
    const size_t found = result->kind == TUPLE ? result->count : 1;
    if (found != panel_count)
        return db_fail(m->context, DB_ERROR_INPUT, "%s: expected %zu array%s, found %zu", m->path,
                       panel_count, panel_count == 1 ? "" : "s", found);
    for (size_t p = 0; p < panel_count; p++) {
        DB_TRY(read_array(m, result->kind == TUPLE ? pickled_member(m, result, p) : result,
                          shape[p], value));
        value += (size_t)shape[p][0] * (size_t)shape[p][1];
    }
    return DB_OK;
}

int db_is_pickle(const db_file_content *content) {
    const unsigned char *const b = (const unsigned char *)content->bytes;
    return content->size > 2 && b[content->size - 1] == '.' &&
           ((b[0] == 0x80 && b[1] >= 2 && b[1] <= 5) || (b[0] == '(' && b[1] == 'c') ||
            b[0] == 'c');
}

db_status db_flex_pickle_read(db_context *context, const char *path, const db_file_content *content,
                              size_t panel_count, const int (*shape)[2], float *value) {
    size_t result = 0;
    machine m = { .context = context,
                  .path = path,
                  .at = (const unsigned char *)content->bytes,
                  .end = (const unsigned char *)content->bytes + content->size };
    db_status status = run_pickle(&m, &result);
    if (status == DB_OK) status = read_arrays(&m, &m.item[result], panel_count, shape, value);
    free(m.item);
    free(m.stack);
    free(m.memo);
    free(m.member);
    return status;
}
