#define INSTANCE "double/avx2"
#define INSTANCE_ISA "avx2"
#include "rules_body.h"
