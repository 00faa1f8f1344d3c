#define INSTANCE "double/scalar"
#define INSTANCE_ISA ""
#define INSTANCE_SCALAR 1
#include "rules_body.h"
