/* scan.h: looking at text many bytes at a time. For the files of this room alone. */
#ifndef CHORDAL_CORE_VALUE_SCAN_H
#define CHORDAL_CORE_VALUE_SCAN_H

#include "value/node.h"

#define CHORDAL__EACH UINT64_C(0x0101010101010101)

/* The index of the first byte with its high bit set of a word as it lies in memory. */
static inline unsigned chordal__first_marked(uint64_t marks) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (unsigned)__builtin_ctzll(marks) / 8;
#else
    return (unsigned)__builtin_clzll(marks) / 8;
#endif
}

/* Eight bytes, the first in the lowest place. */
static inline uint64_t chordal__load_little(const uint8_t *at) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return chordal__load8(at);
#else
    return __builtin_bswap64(chordal__load8(at));
#endif
}

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i chordal__load16(const uint8_t *at) {
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}
static inline void chordal__store16(uint8_t *at, __m128i text) {
    _mm_storeu_si128((__m128i *)(void *)at, text);
}
/* A bit for each byte that JSON reads as more than itself: quote, backslash, control; and for what is not ASCII. */
static inline unsigned chordal__read_marks(__m128i text) {
    __m128i near = _mm_xor_si128(text, _mm_set1_epi8(2)); /* the quote comes right behind the controls */
    __m128i high = _mm_cmpgt_epi8(near, _mm_set1_epi8(0x20)), slash = _mm_cmpeq_epi8(text, _mm_set1_epi8('\\'));
    return (unsigned)_mm_movemask_epi8(_mm_andnot_si128(slash, high)) ^ 0xffff;
}
/* The bytes that JSON may have to write with an escape: quote, backslash, control, the lead of a surrogate. */
static inline __m128i chordal__write_marks(__m128i text) {
    const __m128i space = _mm_set1_epi8(0x20);
    __m128i near = _mm_xor_si128(text, _mm_set1_epi8(2)); /* the quote comes right behind the controls */
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(near, space), near);
    __m128i slash = _mm_cmpeq_epi8(text, _mm_set1_epi8('\\'));
    return _mm_or_si128(_mm_or_si128(low, slash), _mm_cmpeq_epi8(text, _mm_set1_epi8((char)0xed)));
}
#endif

static inline bool chordal__is_ascii(const uint8_t *data, size_t len) {
    const uint8_t *end = data + len;
    uint64_t all = 0;
    if (!CHORDAL__SMALL && len >= 8) {
#if defined(__SSE2__)
        __m128i many = _mm_setzero_si128();
        for (; end - data >= 16; data += 16) many = _mm_or_si128(many, chordal__load16(data));
        if (_mm_movemask_epi8(many)) return false;
#endif
        for (; end - data >= 8; data += 8) all |= chordal__load8(data);
        all |= chordal__load8(end - 8);
    } else if (!CHORDAL__SMALL && len >= 4) {
        all = chordal__load4(data) | chordal__load4(end - 4);
    } else {
        while (data < end) all |= *data++;
    }
    return (all & CHORDAL__EACH * 0x80) == 0;
}

/* Whether a word has a quote, a backslash, a control or a byte that is not ASCII; exact up to the first of them. */
static inline uint64_t chordal__read_marks8(uint64_t word) {
    uint64_t quote = word ^ CHORDAL__EACH * '"', slash = word ^ CHORDAL__EACH * '\\';
    return ((word - CHORDAL__EACH * 0x20) | (quote - CHORDAL__EACH) | (slash - CHORDAL__EACH) | word) &
           CHORDAL__EACH * 0x80;
}

/* Whether a word may have one of those that are written with an escape; never misses one. */
static inline uint64_t chordal__write_marks8(uint64_t word) {
    uint64_t quote = word ^ CHORDAL__EACH * '"', slash = word ^ CHORDAL__EACH * '\\',
             lead = word ^ CHORDAL__EACH * 0xed;
    uint64_t low = ((word - CHORDAL__EACH * 0x20) | (quote - CHORDAL__EACH) | (slash - CHORDAL__EACH)) & ~word;
    return (low | ((lead - CHORDAL__EACH) & ~lead)) & CHORDAL__EACH * 0x80;
}

/* As skip_plain, but it may stop early near the end: at a byte that means itself. `at` is before the end. */
static inline const uint8_t *chordal__skip_most(const uint8_t *at, const uint8_t *end) {
#if defined(__SSE2__)
    for (ptrdiff_t left = end - at; left > 16; left -= 16, at += 16) {
        unsigned marks = chordal__read_marks(chordal__load16(at));
        if (marks) return at + (unsigned)__builtin_ctz(marks);
    }
#else
    for (ptrdiff_t left = end - at; left > 8; left -= 8, at += 8) {
        uint64_t marks = chordal__read_marks8(chordal__load8(at));
        if (marks) return at + chordal__first_marked(marks);
    }
#endif
    return at;
}

/* The first byte that JSON reads as more than itself or that is not ASCII. */
static inline const uint8_t *chordal__skip_plain(const uint8_t *at, const uint8_t *end) {
#if defined(__SSE2__)
    for (ptrdiff_t left = end - at; left >= 16; left -= 16, at += 16) {
        unsigned marks = chordal__read_marks(chordal__load16(at));
        if (marks) return at + (unsigned)__builtin_ctz(marks);
    }
#endif
    for (; !CHORDAL__SMALL && end - at >= 8; at += 8) {
        uint64_t marks = chordal__read_marks8(chordal__load8(at));
        if (marks) return at + chordal__first_marked(marks);
    }
    while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') at++;
    return at;
}

#endif
