#define INSTANCE "mixed/avx512"
#define INSTANCE_ISA "avx512"
#define INSTANCE_MIXED 1
#include "rules_body.h"
