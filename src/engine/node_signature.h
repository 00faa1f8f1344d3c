/* Which reciprocal lattice nodes a pixel's samples belong to. Images are smooth in the parameters
 * as long as this does not change; where it does there may be a kink or a jump, at which finite
 * differences mean nothing. */
#ifndef DB_ENGINE_NODE_SIGNATURE_H
#define DB_ENGINE_NODE_SIGNATURE_H

#include <dualbragg/plan.h>

#include <stdint.h>

typedef struct db_node_signer db_node_signer;

/* Prepares for experiments with the counts (sources, domains, steps, panels), mosaic seed and
 * crystal shape of this one, at which steps in the parameters start. */
db_status db_node_signer_create(db_context *context, const db_experiment *experiment,
                                db_node_signer **signer);
void db_node_signer_destroy(db_node_signer **signer);

/* 1 if the image can have kinks or jumps in its parameters at all: not for whole-celled
 * parallelepipeds with the same structure factor everywhere. */
int db_node_signature_matters(const db_experiment *experiment);

/* Fills one number per pixel of the regions (elements addressed as in an image). Equal numbers
 * mean, up to accidents of a 64-bit hash, that each sample has the same nearest node, or the same
 * four where structure factors are interpolated, as far as they matter; that it is on the same side
 * of the edge of TOPHAT and of the resolution limit, and in the same interval of the amorphous
 * amplitudes, and that each source is in the same one of the curves of sites. In closed form: that the same spots shine there, expanded at angles of the same kind.
 * DB_ERROR_MEMORY. */
db_status db_node_signature(db_node_signer *signer, const db_experiment *experiment,
                            const db_region *regions, size_t region_count, uint64_t *signature);

#endif
