#define INSTANCE "mixed/scalar"
#define INSTANCE_ISA ""
#define INSTANCE_MIXED 1
#define INSTANCE_SCALAR 1
#include "rules_body.h"
