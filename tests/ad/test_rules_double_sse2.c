#define INSTANCE "double/sse2"
#define INSTANCE_ISA ""
#include "rules_body.h"
