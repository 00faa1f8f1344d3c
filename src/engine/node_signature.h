/* Signature of a pixel: a hash of the reciprocal lattice nodes nearest to its samples. While a signature stays the
 * same, the pixel is smooth in the parameters. Where it changes there may be a kink or a jump, and finite differences
 * mean nothing. */
#ifndef DB_ENGINE_NODE_SIGNATURE_H
#define DB_ENGINE_NODE_SIGNATURE_H

#include <dualbragg/plan.h>

#include <stdint.h>

typedef struct db_node_signer db_node_signer;

/* Prepares signatures of experiments that differ from this one by steps in the parameters; they have its
 * numbers of sources, domains, phi steps and panels, its mosaic seed and its crystal shape. */
db_status db_node_signer_create(db_context *context, const db_experiment *experiment,
                                db_node_signer **signer);
void db_node_signer_destroy(db_node_signer **signer);

/* 1 if the image can have kinks or jumps in its parameters. A parallelepiped of whole cells with equal structure
 * factors has none. */
int db_node_signature_matters(const db_experiment *experiment);

/* Fills one number per pixel of the regions (elements as in an image). Two equal numbers mean, up to accidents of a
 * 64-bit hash: each sample has the same nearest node (with interpolated structure factors the same four nodes along
 * an axis), if nodes matter; each sample is on the same side of the edge of TOPHAT and of the resolution limit, and
 * in the same interval of the amorphous amplitudes; each source is in the same interval of the curves of sites. In
 * closed form: the same spots reach the pixel, expanded at the same kinds of angles. DB_ERROR_MEMORY. */
db_status db_node_signature(db_node_signer *signer, const db_experiment *experiment,
                            const db_region *regions, size_t region_count, uint64_t *signature);

#endif
