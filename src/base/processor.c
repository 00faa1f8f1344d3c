/* Instruction sets, asked from the processor (cpuid, xgetbv: Intel's manual, volume 1, 14.3 and 15.2): functions
 * of compilers are missing or incomplete in some of their run-time libraries. */
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

enum { ASKED = 1, AVX2 = 2, AVX512 = 4 };

static int sets_of(const processor *p) {
    /* ymm with the lower halves; zmm with all of them and masks */
    const unsigned ymm = 0x6, zmm = 0xe6;
    if (!holds(p->kept, ymm) || !holds(p->basic, bit_AVX | bit_FMA) ||
        !holds(p->extended, bit_AVX2))
        return ASKED;
    return holds(p->kept, zmm) && holds(p->extended, bit_AVX512F | bit_AVX512DQ | bit_AVX512VL |
                                                         bit_AVX512BW | bit_AVX512CD)
               ? ASKED | AVX2 | AVX512
               : ASKED | AVX2;
}

/* Asked once: a virtual machine takes some 10 us for each cpuid, and there are many contexts. Threads that ask at
 * the same time get the same answer. */
static int known_sets(void) {
    static int known;
    int sets = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (sets) return sets;
    const processor p = ask_processor();
    sets = sets_of(&p);
    __atomic_store_n(&known, sets, __ATOMIC_RELAXED);
    return sets;
}

int db_processor_has_avx2(void) { return (known_sets() & AVX2) != 0; }

int db_processor_has_avx512(void) { return (known_sets() & AVX512) != 0; }
#else
int db_processor_has_avx2(void) { return 0; }
int db_processor_has_avx512(void) { return 0; }
#endif
