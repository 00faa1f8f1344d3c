/* The table of the device's kernels. */
#include "cuda/arguments.h"

/* X(kind, precision, shape, number of the shape) of the kernels of a use */
#define PLAIN(X, kind, precision)                                                                  \
    X(kind, precision, square, DB_CUDA_SHAPE_SQUARE)                                               \
    X(kind, precision, few_cells, DB_CUDA_SHAPE_FEW_CELLS)                                         \
    X(kind, precision, compact, DB_CUDA_SHAPE_COMPACT)
#define CELLS(X, kind, precision)                                                                  \
    X(kind, precision, square, DB_CUDA_SHAPE_SQUARE)                                               \
    X(kind, precision, compact, DB_CUDA_SHAPE_COMPACT)
#define SPOTS(X, kind, precision)                                                                  \
    X(kind, precision, rest, DB_CUDA_SPOTS_REST)                                                   \
    X(kind, precision, move, DB_CUDA_SPOTS_MOVE)
#define GENERAL(X, kind, precision) X(kind, precision, any, DB_CUDA_SHAPE_ANY)
#define FLAT(X, kind, precision) X(kind, precision, any, DB_CUDA_SHAPE_FLAT)

#define DECLARE(use, kind, precision, shape)                                                       \
    void db_cuda_##use##_##kind##_##precision##_##shape(db_cuda_arguments);
#define DECLARE_IMAGE(kind, precision, shape, number) DECLARE(image, kind, precision, shape)
#define DECLARE_ROWS(kind, precision, shape, number) DECLARE(rows, kind, precision, shape)
#define DECLARE_NORMAL(kind, precision, shape, number) DECLARE(normal, kind, precision, shape)
#define DECLARE_STILL(kind, precision, shape, number) DECLARE(still, kind, precision, shape)
#define DECLARE_STILL_NORMAL(kind, precision, shape, number)                                       \
    DECLARE(still_normal, kind, precision, shape)
#define DECLARE_ALL(precision)                                                                     \
    PLAIN(DECLARE_IMAGE, forward, precision)                                                       \
    PLAIN(DECLARE_ROWS, forward, precision)                                                        \
    PLAIN(DECLARE_STILL, forward, precision)                                                       \
    PLAIN(DECLARE_STILL, gradient, precision)                                                      \
    PLAIN(DECLARE_STILL_NORMAL, gradient, precision)                                               \
    PLAIN(DECLARE_IMAGE, gradient, precision)                                                      \
    PLAIN(DECLARE_NORMAL, gradient, precision)                                                     \
    CELLS(DECLARE_IMAGE, gradient_cells, precision)                                                \
    CELLS(DECLARE_NORMAL, gradient_cells, precision)                                               \
    GENERAL(DECLARE_IMAGE, general_forward, precision)                                             \
    GENERAL(DECLARE_IMAGE, general_gradient, precision)                                            \
    GENERAL(DECLARE_NORMAL, general_gradient, precision)                                           \
    FLAT(DECLARE_IMAGE, flat_forward, precision)                                                   \
    FLAT(DECLARE_IMAGE, flat_gradient, precision)                                                  \
    FLAT(DECLARE_NORMAL, flat_gradient, precision)                                                 \
    SPOTS(DECLARE_IMAGE, spots_forward, precision)                                                 \
    SPOTS(DECLARE_IMAGE, spots_gradient, precision)                                                \
    SPOTS(DECLARE_NORMAL, spots_gradient, precision)                                               \
    DECLARE(cells, spots_gradient, precision, any)
DECLARE_ALL(double)
DECLARE_ALL(mixed)
void db_cuda_add_slots_kernel(db_cuda_arguments);
void db_cuda_add_images_kernel(db_cuda_arguments);
void db_cuda_spot_slopes_kernel(db_cuda_arguments);
void db_cuda_spot_tangent_kernel(db_cuda_arguments);
void db_cuda_box_sums_kernel(db_cuda_arguments);
void db_cuda_spots_clear_kernel(db_cuda_arguments);
void db_cuda_spots_nodes_kernel(db_cuda_arguments);
void db_cuda_spots_rest_kernel(db_cuda_arguments);
void db_cuda_spots_move_kernel(db_cuda_arguments);
void db_cuda_spots_begin_kernel(db_cuda_arguments);
void db_cuda_spots_put_kernel(db_cuda_arguments);
void db_cuda_spots_sort_kernel(db_cuda_arguments);

#define ENTRY(use, kind, precision, shape, number)                                                 \
    [number] = (const void *)db_cuda_##use##_##kind##_##precision##_##shape,
#define ENTRY_IMAGE(kind, precision, shape, number) ENTRY(image, kind, precision, shape, number)
#define ENTRY_ROWS(kind, precision, shape, number) ENTRY(rows, kind, precision, shape, number)
#define ENTRY_STILL(kind, precision, shape, number) ENTRY(still, kind, precision, shape, number)
#define ENTRY_STILL_NORMAL(kind, precision, shape, number)                                         \
    ENTRY(still_normal, kind, precision, shape, number)
#define ENTRY_NORMAL(kind, precision, shape, number) ENTRY(normal, kind, precision, shape, number)

/* Kernels in the order of db_kernel_kind. */
#define KINDS(precision)                                                                           \
    {                                                                                              \
        { .image = { PLAIN(ENTRY_IMAGE, forward, precision) },                                     \
          .rows = { PLAIN(ENTRY_ROWS, forward, precision) },                                       \
          .still = { PLAIN(ENTRY_STILL, forward, precision) } },                                   \
            { .image = { PLAIN(ENTRY_IMAGE, gradient, precision) },                                \
              .normal = { PLAIN(ENTRY_NORMAL, gradient, precision) },                              \
              .still = { PLAIN(ENTRY_STILL, gradient, precision) },                                \
              .still_normal = { PLAIN(ENTRY_STILL_NORMAL, gradient, precision) } },                \
            { .image = { CELLS(ENTRY_IMAGE, gradient_cells, precision) },                          \
              .normal = { CELLS(ENTRY_NORMAL, gradient_cells, precision) } },                      \
            { .image = { GENERAL(ENTRY_IMAGE, general_forward, precision)                          \
                             FLAT(ENTRY_IMAGE, flat_forward, precision) } },                       \
            { .image = { GENERAL(ENTRY_IMAGE, general_gradient, precision)                         \
                             FLAT(ENTRY_IMAGE, flat_gradient, precision) },                        \
              .normal = { GENERAL(ENTRY_NORMAL, general_gradient, precision)                       \
                              FLAT(ENTRY_NORMAL, flat_gradient, precision) } },                    \
            { .image = { SPOTS(ENTRY_IMAGE, spots_forward, precision) } },                         \
            { .image = { SPOTS(ENTRY_IMAGE, spots_gradient, precision) },                          \
              .normal = { SPOTS(ENTRY_NORMAL, spots_gradient, precision) },                        \
              .cells = (const void *)db_cuda_cells_spots_gradient_##precision##_any },             \
    }

static const db_cuda_kernels table[2][DB_CUDA_KINDS] = { KINDS(double), KINDS(mixed) };

const db_cuda_kernels *db_cuda_kernels_of(int kind, int mixed) { return &table[mixed][kind]; }

#ifdef DB_HAVE_RANDOM123
void db_cuda_noise_rows(db_cuda_arguments);
const void *const db_cuda_noise = (const void *)db_cuda_noise_rows;
#endif

const void *const db_cuda_add_slots = (const void *)db_cuda_add_slots_kernel;
const void *const db_cuda_add_images = (const void *)db_cuda_add_images_kernel;
const void *const db_cuda_spot_slopes = (const void *)db_cuda_spot_slopes_kernel;
const void *const db_cuda_spot_tangent = (const void *)db_cuda_spot_tangent_kernel;
const void *const db_cuda_box_sums = (const void *)db_cuda_box_sums_kernel;

const db_cuda_search_kernels db_cuda_search = {
    .clear = (const void *)db_cuda_spots_clear_kernel,
    .nodes = (const void *)db_cuda_spots_nodes_kernel,
    .spots = { [DB_CUDA_SPOTS_REST] = (const void *)db_cuda_spots_rest_kernel,
               [DB_CUDA_SPOTS_MOVE] = (const void *)db_cuda_spots_move_kernel },
    .begin = (const void *)db_cuda_spots_begin_kernel,
    .put = (const void *)db_cuda_spots_put_kernel,
    .sort = (const void *)db_cuda_spots_sort_kernel,
};
