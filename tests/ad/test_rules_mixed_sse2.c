#define INSTANCE "mixed/sse2"
#define INSTANCE_ISA ""
#define INSTANCE_MIXED 1
#include "rules_body.h"
