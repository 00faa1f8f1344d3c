/* When a likelihood decides. */
#ifndef DB_FIT_CONFIG_CERTAIN_H
#define DB_FIT_CONFIG_CERTAIN_H

/* Limit for ln of a likelihood or probability: no rival may be likelier than the model by this, rivals to be excluded must be
 * less likely by it, and what chance brings with less is no chance. A search tries millions of turns; and a refinement, too, finds
 * the likeliest of many lattices by spots that it has seen: seven parameters with a hundred distinct values are e^32 lattices. */
#define DB_CERTAIN 32.0

#endif
