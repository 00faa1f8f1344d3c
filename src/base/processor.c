/* Asks the processor itself (cpuid, xgetbv: Intel's manual, volume 1, 14.3 and 15.2): compilers' own functions for that are
 * not there, or know nothing, in some of their run-time libraries. */
#include "base/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct {
    unsigned basic;    /* ecx of leaf 1 */
    unsigned extended; /* ebx of leaf 7 */
    unsigned kept;     /* registers that the operating system keeps, by xgetbv */
} processor;

static processor ask_processor(void) {
    processor p = { 0 };
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &p.basic, &edx) || !(p.basic & bit_OSXSAVE))
        return (processor){ 0 };
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) p.extended = ebx;
    __asm__ volatile("xgetbv" : "=a"(p.kept), "=d"(edx) : "c"(0));
    return p;
}

static int holds(unsigned word, unsigned bits) { return (word & bits) == bits; }

int db_processor_has_avx2(void) {
    const unsigned ymm = 0x6; /* with the lower halves */
    const processor p = ask_processor();
    return holds(p.kept, ymm) && holds(p.basic, bit_AVX | bit_FMA) && holds(p.extended, bit_AVX2);
}

int db_processor_has_avx512(void) {
    const unsigned zmm = 0xe6; /* all of them, and masks */
    const processor p = ask_processor();
    return db_processor_has_avx2() && holds(p.kept, zmm) &&
           holds(p.extended,
                 bit_AVX512F | bit_AVX512DQ | bit_AVX512VL | bit_AVX512BW | bit_AVX512CD);
}
#else
int db_processor_has_avx2(void) { return 0; }
int db_processor_has_avx512(void) { return 0; }
#endif
