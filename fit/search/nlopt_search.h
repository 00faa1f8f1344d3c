/* Methods of NLopt for the search of a stage. */
#ifndef DB_FIT_SEARCH_NLOPT_SEARCH_H
#define DB_FIT_SEARCH_NLOPT_SEARCH_H

#include "fit/search/search.h"

/* Searches from the values of the search with its algorithm, which is one of NLopt. */
db_status db_nlopt_search(db_search *search);

#endif
