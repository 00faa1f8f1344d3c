/* What a test program of this folder gives its main: compiled without the instance's flags, main
 * asks the processor before any of its code runs. */
#ifndef TESTS_AD_RULES_PROGRAM_H
#define TESTS_AD_RULES_PROGRAM_H

/* "" for the baseline, "avx2" or "avx512" */
extern const char *const rules_instruction_set;
/* Runs the tests; the number of failures. */
int rules_run(void);

#endif
