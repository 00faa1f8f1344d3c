/* Sums along a fixed tree. */
#include "fit/shots/tree_sum.h"

#include "base/context_internal.h"
#include "fit/shots/team.h"

#include <stdlib.h>
#include <string.h>

/* A node that waits for its neighbour. */
typedef struct db_tree_node {
    double *vector; /* NULL: none */
    int level;
} db_tree_node;

/* A spare vector begins with the address of the next one. */
static size_t room_of(const db_tree_sum *sum) {
    const size_t bytes = sum->size * sizeof(double);
    return bytes > sizeof(double *) ? bytes : sizeof(double *);
}

db_status db_tree_sum_begin(db_context *context, size_t pieces, size_t size, db_tree_sum *sum) {
    *sum = (db_tree_sum){ .pieces = pieces, .size = size };
    sum->node = calloc(pieces + 1, sizeof *sum->node);
    return db_need_memory(context, sum->node, "sums over shots");
}

static void give_back(db_tree_sum *sum, double *vector) {
#pragma omp critical(db_tree_sum)
    {
        memcpy(vector, &sum->spare, sizeof sum->spare);
        sum->spare = vector;
        sum->held--;
    }
}

/* Empties the tree; its vectors become spare. */
static void empty(db_tree_sum *sum) {
    for (size_t i = 0; i < sum->pieces && sum->node; i++) {
        if (sum->node[i].vector) give_back(sum, sum->node[i].vector);
        sum->node[i].vector = NULL;
    }
}

void db_tree_sum_clear(db_tree_sum *sum) {
    empty(sum);
    while (sum->spare) {
        double *const vector = sum->spare;
        memcpy(&sum->spare, vector, sizeof sum->spare);
        free(vector);
    }
    free(sum->node);
    *sum = (db_tree_sum){ .pieces = 0 };
}

double *db_tree_sum_take(db_tree_sum *sum) {
    double *vector;
#pragma omp critical(db_tree_sum)
    {
        vector = sum->spare;
        if (vector) memcpy(&sum->spare, vector, sizeof sum->spare);
        sum->held++;
        if (sum->held > sum->most_held) sum->most_held = sum->held;
    }
    if (!vector) vector = malloc(room_of(sum));
    if (vector) return memset(vector, 0, room_of(sum));
#pragma omp critical(db_tree_sum)
    sum->held--;
    return NULL;
}

static size_t first_piece(size_t node, int level) { return node << level; }

/* Leaves a node, or takes away its neighbour for addition; NULL: no neighbour yet. */
static double *pair_up(db_tree_sum *sum, size_t node, int level, double *vector) {
    db_tree_node *const own = &sum->node[first_piece(node, level)];
    double *other = NULL;
#pragma omp critical(db_tree_sum)
    {
        db_tree_node *const neighbour = &sum->node[first_piece(node ^ 1, level)];
        if (neighbour->vector && neighbour->level == level) {
            other = neighbour->vector;
            neighbour->vector = NULL;
        } else {
            *own = (db_tree_node){ vector, level };
        }
    }
    return other;
}

static void add_vector(const db_tree_sum *sum, double *to, const double *from) {
    for (size_t i = 0; i < sum->size; i++) to[i] += from[i];
}

/* The sum of two neighbours, in the vector of the left one. */
static double *join(db_tree_sum *sum, double *left, double *right) {
    add_vector(sum, left, right);
    give_back(sum, right);
    return left;
}

/* Is a node its parent, because it has no neighbour? */
static int is_alone(const db_tree_sum *sum, size_t node, int level) {
    return (node & 1) == 0 && first_piece(node + 1, level) >= sum->pieces;
}

static int is_root(const db_tree_sum *sum, size_t node, int level) {
    return node == 0 && first_piece(1, level) >= sum->pieces;
}

/* Climbs from a node as far as this process' nodes allow. */
static void climb(db_tree_sum *sum, size_t node, int level, double *vector) {
    while (!is_root(sum, node, level)) {
        if (!is_alone(sum, node, level)) {
            double *const other = pair_up(sum, node, level, vector);
            if (!other) return;
            vector = node & 1 ? join(sum, other, vector) : join(sum, vector, other);
        }
        node /= 2;
        level++;
    }
    sum->node[0] = (db_tree_node){ vector, level };
}

void db_tree_sum_put(db_tree_sum *sum, size_t piece, double *vector) {
    climb(sum, piece, 0, vector);
}

/* Exchange between processes. */
typedef struct exchange {
    const db_fit_team *team;
    db_context *context;
    db_tree_sum *sum;
    db_piece_owner owner;
    const void *user;
    double *room; /* for received vectors, so that nobody fails while others wait */
} exchange;

static int owner_of(const exchange *e, size_t node, int level) {
    return e->owner(e->user, first_piece(node, level));
}

/* Sends a right node to the owner of its left neighbour, or adds a received one to a left node. Nodes of one
 * process have met before. */
static db_status exchange_node(exchange *e, size_t node, int level) {
    db_tree_sum *const sum = e->sum;
    db_tree_node *const own = &sum->node[first_piece(node, level)];
    const size_t bytes = sum->size * sizeof(double);
    double *const vector = own->vector;
    const int other = owner_of(e, node ^ 1, level);
    if (node & 1) {
        DB_TRY(db_team_send(e->team, e->context, other, vector, bytes));
        own->vector = NULL;
        give_back(sum, vector);
        return DB_OK;
    }
    DB_TRY(db_team_receive(e->team, e->context, other, e->room, bytes));
    own->vector = NULL;
    add_vector(sum, vector, e->room);
    climb(sum, node / 2, level + 1, vector);
    return DB_OK;
}

/* Exchanges level by level, from left to right in all processes, so that nobody waits in a circle. */
static db_status exchange_all(exchange *e) {
    const db_tree_sum *const sum = e->sum;
    for (int level = 0; first_piece(1, level) < sum->pieces; level++)
        for (size_t node = 0; first_piece(node, level) < sum->pieces; node++) {
            const db_tree_node *const own = &sum->node[first_piece(node, level)];
            if (own->vector && own->level == level) DB_TRY(exchange_node(e, node, level));
        }
    return DB_OK;
}

/* Brings the total to rank 0, if another process has the first piece. */
static db_status bring_total(const exchange *e, double *total) {
    const size_t bytes = e->sum->size * sizeof *total;
    const double *const own = e->sum->pieces ? e->sum->node[0].vector : NULL;
    const int from = e->sum->pieces ? e->owner(e->user, 0) : 0, rank = e->team->rank;
    if (own)
        memcpy(total, own, bytes);
    else if (rank == from)
        memset(total, 0, bytes);
    if (from == 0) return DB_OK;
    if (rank == from) return db_team_send(e->team, e->context, 0, total, bytes);
    return rank == 0 ? db_team_receive(e->team, e->context, from, total, bytes) : DB_OK;
}

db_status db_tree_sum_total(const db_fit_team *team, db_context *context, db_tree_sum *sum,
                            db_piece_owner owner, const void *user, double *total) {
    exchange e = { team, context, sum, owner, user, NULL };
    db_status status = DB_OK;
    if (team->size > 1) {
        e.room = db_tree_sum_take(sum);
        status = db_team_common_status(team, context,
                                       db_need_memory(context, e.room, "sums over shots"));
    }
    if (status == DB_OK && e.room) status = exchange_all(&e);
    if (status == DB_OK) status = bring_total(&e, total);
    if (e.room) give_back(sum, e.room);
    empty(sum);
    if (status == DB_OK)
        status = db_team_broadcast(team, context, total, sum->size * sizeof *total);
    return status;
}
