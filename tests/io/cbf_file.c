#include "cbf_file.h"
#include "support/expect.h"
#include "files_for_tests.h"

#include <stdlib.h>

size_t cbf_compress(const int64_t *values, size_t count, unsigned char *bytes) {
    size_t size = 0;
    int64_t previous = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t difference = (int64_t)((uint64_t)values[i] - (uint64_t)previous);
        previous = values[i];
        int width = 1;
        while (width < 8) {
            const int64_t smallest = -((int64_t)1 << (8 * width - 1));
            if (difference > smallest && difference < -smallest) break;
            /* does not fit: the smallest number of this width announces the next */
            for (int b = 0; b < width; b++)
                bytes[size++] = (unsigned char)((uint64_t)smallest >> (8 * b));
            width *= 2;
        }
        for (int b = 0; b < width; b++)
            bytes[size++] = (unsigned char)((uint64_t)difference >> (8 * b));
    }
    return size;
}

cbf_layout cbf_layout_of(long long fast, long long slow, long long compressed_size) {
    return (cbf_layout){ .header = "",
                         .md5 = "",
                         .element_type = "signed 32-bit integer",
                         .conversions = "x-CBF_BYTE_OFFSET",
                         .size = compressed_size,
                         .elements = fast * slow,
                         .fast = fast,
                         .slow = slow };
}

char *cbf_bytes(const cbf_layout *layout, const unsigned char *compressed, size_t compressed_size,
                size_t *size) {
    const size_t room = 2000 + strlen(layout->header) + compressed_size;
    char *bytes = malloc(room);
    assert_non_null(bytes);
    int length =
        snprintf(bytes, room,
                 "###CBF: VERSION 1.5, CBFlib v0.7.8 - PILATUS detectors\r\n\r\n"
                 "data_image\r\n\r\n_array_data.header_convention \"PILATUS_1.2\"\r\n"
                 "_array_data.header_contents\r\n;\r\n%s;\r\n\r\n"
                 "_array_data.data\r\n;\r\n--CIF-BINARY-FORMAT-SECTION--\r\n"
                 "Content-Type: application/octet-stream;\r\n     conversions=\"%s\"\r\n"
                 "Content-Transfer-Encoding: BINARY\r\nX-Binary-Size: %lld\r\nX-Binary-ID: 1\r\n"
                 "X-Binary-Element-Type: \"%s\"\r\nX-Binary-Element-Byte-Order: LITTLE_ENDIAN\r\n%s"
                 "X-Binary-Number-of-Elements: %lld\r\nX-Binary-Size-Fastest-Dimension: %lld\r\n"
                 "X-Binary-Size-Second-Dimension: %lld\r\nX-Binary-Size-Padding: 8\r\n\r\n"
                 "\x0c\x1a\x04\xd5",
                 layout->header, layout->conversions, layout->size, layout->element_type,
                 layout->md5, layout->elements, layout->fast, layout->slow);
    memcpy(bytes + length, compressed, compressed_size);
    static const char tail[] = "\0\0\0\0\0\0\0\0\r\n--CIF-BINARY-FORMAT-SECTION----\r\n;\r\n";
    memcpy(bytes + (size_t)length + compressed_size, tail, sizeof tail - 1);
    *size = (size_t)length + compressed_size + sizeof tail - 1;
    assert_true(*size <= room);
    return bytes;
}

const char *cbf_file(const char *name, const char *header, const int64_t *values, int fast,
                     int slow) {
    const size_t count = (size_t)fast * (size_t)slow;
    unsigned char *compressed = malloc(15 * count);
    assert_non_null(compressed);
    const size_t compressed_size = cbf_compress(values, count, compressed);
    cbf_layout layout = cbf_layout_of(fast, slow, (long long)compressed_size);
    layout.header = header;
    size_t size;
    char *bytes = cbf_bytes(&layout, compressed, compressed_size, &size);
    const char *path = folder_file(name, bytes, size);
    free(bytes);
    free(compressed);
    return path;
}
