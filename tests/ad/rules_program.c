#include "rules_program.h"

#include <stdio.h>
#include <string.h>

static int processor_has(const char *instruction_set) {
    if (instruction_set[0] == '\0') return 1;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (strcmp(instruction_set, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(instruction_set, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma");
#endif
    return 0;
}

int main(void) {
    if (!processor_has(rules_instruction_set)) {
        printf("skipped: this processor has no %s\n", rules_instruction_set);
        return 77;
    }
    return rules_run() != 0;
}
