#define INSTANCE "mixed/baseline"
#define INSTANCE_ISA ""
#define INSTANCE_MIXED 1
#include "rules_body.h"
