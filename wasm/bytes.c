/* bytes.c: those functions of string.h that the core calls and the compiler has no instruction for, as short as may be;
 * the C library's own look at words. */
#include <stdint.h>
#include <string.h>

void *memchr(const void *data, int byte, size_t len) {
    for (const uint8_t *at = data; len--; at++) {
        if (*at == (uint8_t)byte) return (void *)(uintptr_t)at;
    }
    return NULL;
}

int memcmp(const void *a, const void *b, size_t len) {
    const uint8_t *at = a, *with = b;
    for (; len; len--, at++, with++) {
        if (*at != *with) return *at - *with;
    }
    return 0;
}

size_t strlen(const char *text) {
    const char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}

char *strchr(const char *text, int byte) {
    return memchr(text, byte, strlen(text) + 1);
}
