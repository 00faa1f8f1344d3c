/* MD5 (RFC 1321), and its digest in base64. */
#include "base/md5.h"

#include "base/base64.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, STEPS = 64 };

/* Constants of the steps: |sin(i+1)| in units of 2^-32. */
static void make_constants(uint32_t constant[STEPS]) {
    for (int i = 0; i < STEPS; i++)
        constant[i] = (uint32_t)floor(fabs(sin(i + 1.0)) * 4294967296.0);
}

/* One step: the four registers move on by one place. */
static inline void digest_step(uint32_t r[4], uint32_t mixed, uint32_t constant, uint32_t word,
                               int rotation) {
    const uint32_t sum = r[0] + mixed + constant + word;
    r[0] = r[3];
    r[3] = r[2];
    r[2] = r[1];
    r[1] += sum << rotation | sum >> (32 - rotation);
}

static void digest_block(uint32_t state[4], const uint32_t constant[STEPS],
                         const unsigned char *block) {
    static const int rotations[4][4] = {
        { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
    };
    uint32_t word[16], r[4];
    memcpy(r, state, sizeof r);
    for (int i = 0; i < 16; i++)
        word[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 |
                  (uint32_t)block[4 * i + 2] << 16 | (uint32_t)block[4 * i + 3] << 24;
    /* One loop per round, so that no step has to choose its function. */
    for (int i = 0; i < 16; i++)
        digest_step(r, (r[1] & r[2]) | (~r[1] & r[3]), constant[i], word[i], rotations[0][i % 4]);
    for (int i = 0; i < 16; i++)
        digest_step(r, (r[3] & r[1]) | (~r[3] & r[2]), constant[16 + i], word[(5 * i + 1) % 16],
                    rotations[1][i % 4]);
    for (int i = 0; i < 16; i++)
        digest_step(r, r[1] ^ r[2] ^ r[3], constant[32 + i], word[(3 * i + 5) % 16],
                    rotations[2][i % 4]);
    for (int i = 0; i < 16; i++)
        digest_step(r, r[2] ^ (r[1] | ~r[3]), constant[48 + i], word[7 * i % 16],
                    rotations[3][i % 4]);
    for (int i = 0; i < 4; i++) state[i] += r[i];
}

static void digest_of(const unsigned char *bytes, size_t size, unsigned char digest[16]) {
    uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    uint32_t constant[STEPS];
    make_constants(constant);
    size_t done = 0;
    for (; size - done >= BLOCK; done += BLOCK) digest_block(state, constant, bytes + done);
    /* The rest, a bit, zeros, and the number of bits in the last eight bytes. */
    unsigned char last[2 * BLOCK] = { 0 };
    const size_t rest = size - done, padded = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    memcpy(last, bytes + done, rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        last[padded - 8 + (size_t)i] = (unsigned char)((uint64_t)size * 8 >> (8 * i));
    for (size_t i = 0; i < padded; i += BLOCK) digest_block(state, constant, last + i);
    for (int i = 0; i < 16; i++) digest[i] = (unsigned char)(state[i / 4] >> (8 * (i % 4)));
}

void db_md5_base64(const void *bytes, size_t size, char text[DB_MD5_TEXT_SIZE]) {
    unsigned char digest[16];
    digest_of(bytes, size, digest);
    for (size_t i = 0; i < 6; i++)
        db_base64_group(digest + 3 * i, sizeof digest - 3 * i, text + 4 * i);
    text[DB_MD5_TEXT_SIZE - 1] = '\0';
}
