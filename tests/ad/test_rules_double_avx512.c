#define INSTANCE "double/avx512"
#define INSTANCE_ISA "avx512"
#include "rules_body.h"
