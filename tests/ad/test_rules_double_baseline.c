#define INSTANCE "double/baseline"
#define INSTANCE_ISA ""
#include "rules_body.h"
