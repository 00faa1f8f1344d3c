#define INSTANCE "mixed/avx2"
#define INSTANCE_ISA "avx2"
#define INSTANCE_MIXED 1
#include "rules_body.h"
