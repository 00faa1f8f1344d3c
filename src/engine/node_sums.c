#include "engine/node_samples.h"

#include "base/growth.h"

#include <string.h>

static size_t hash_node(const int hkl[3], size_t panel) {
    uint64_t x = (uint64_t)panel + 1;
    for (int i = 0; i < 3; i++) {
        x = (x ^ (uint64_t)(int64_t)hkl[i]) * 0x9e3779b97f4a7c15;
        x ^= x >> 29;
    }
    return (size_t)x;
}

static int is_node(const db_node_sum *s, const int hkl[3], size_t panel) {
    return s->hkl[0] == hkl[0] && s->hkl[1] == hkl[1] && s->hkl[2] == hkl[2] && s->panel == panel;
}

/* Doubles the number of slots; 0: out of memory. */
static int widen_sums(db_node_sums *n) {
    const size_t slots = n->slots ? 2 * n->slots : 256;
    size_t *const slot = calloc(slots, sizeof *slot);
    if (!slot) return 0;
    for (size_t i = 0; i < n->count; i++) {
        size_t at = hash_node(n->sum[i].hkl, n->sum[i].panel) & (slots - 1);
        while (slot[at]) at = (at + 1) & (slots - 1);
        slot[at] = i + 1;
    }
    free(n->slot);
    n->slot = slot;
    n->slots = slots;
    return 1;
}

/* The node's slot, or a free one. */
static size_t slot_of(const db_node_sums *n, const int hkl[3], size_t panel) {
    size_t at = hash_node(hkl, panel) & (n->slots - 1);
    while (n->slot[at] && !is_node(&n->sum[n->slot[at] - 1], hkl, panel))
        at = (at + 1) & (n->slots - 1);
    return at;
}

db_node_sum *db_node_sums_find(db_node_sums *n, const int hkl[3], size_t panel) {
    if (n->count && is_node(&n->sum[n->last], hkl, panel)) return &n->sum[n->last];
    if (2 * n->count >= n->slots && !widen_sums(n)) return NULL;
    const size_t at = slot_of(n, hkl, panel);
    if (!n->slot[at]) {
        db_node_sum *const grown = db_grown(n->sum, &n->capacity, n->count + 1, sizeof *grown);
        if (!grown) return NULL;
        n->sum = grown;
        n->sum[n->count] = (db_node_sum){ .panel = panel };
        memcpy(n->sum[n->count].hkl, hkl, sizeof n->sum->hkl);
        n->slot[at] = ++n->count;
    }
    n->last = n->slot[at] - 1;
    return &n->sum[n->last];
}

void db_node_sums_clear(db_node_sums *n) {
    free(n->sum);
    free(n->slot);
    *n = (db_node_sums){ 0 };
}
