/* Sixteen characters at a time (SSE2 is part of every x86-64); other machines take the scalar loops. No function reads at or behind
   its `limit`: near the end of a text the characters are looked at one by one, or copied to the stack first. */
#ifndef TARDIS_SIMD_H
#define TARDIS_SIMD_H
#include <stddef.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* The first quote or backslash from p on; `limit` if there is none. */
static inline const char *quote_end(const char *p, const char *limit) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  while (limit - p >= 16) {
    __m128i x = _mm_loadu_si128((const __m128i *)p);
    unsigned hits = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash)));
    if (hits) return p + __builtin_ctz(hits);
    p += 16;
  }
#endif
  while (p < limit && *p != '"' && *p != '\\') p++;
  return p;
}

/* The first character that no number or literal holds: a comma, a colon, a quote, a bracket, a blank or anything but ASCII. */
static inline const char *value_end(const char *p, const char *limit) {
#if defined(__SSE2__)
  const __m128i comma = _mm_set1_epi8(','), colon = _mm_set1_epi8(':'), quote = _mm_set1_epi8('"'), blank = _mm_set1_epi8(33);
  const __m128i bit = _mm_set1_epi8(32), open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
  while (limit - p >= 16) {
    __m128i x = _mm_loadu_si128((const __m128i *)p), folded = _mm_or_si128(x, bit); /* [ and { differ in this bit, so do ] and } */
    __m128i brackets = _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close));
    __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(x, comma), _mm_or_si128(_mm_cmpeq_epi8(x, colon), _mm_cmpeq_epi8(x, quote)));
    /* signed: everything above ASCII is below the blank */
    unsigned hits = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(brackets, marks), _mm_cmplt_epi8(x, blank)));
    if (hits) return p + __builtin_ctz(hits);
    p += 16;
  }
#endif
  for (; p < limit; p++) {
    const char folded = (char)(*p | 32);
    if ((signed char)*p <= 32 || *p == ',' || *p == ':' || *p == '"' || folded == '{' || folded == '}') break;
  }
  return p;
}

/* Whether no character is above 127. */
static inline int is_ascii(const char *p, const char *limit) {
  signed char any = 0;
#if defined(__SSE2__)
  if (limit - p >= 16) {
    __m128i all = _mm_loadu_si128((const __m128i *)(limit - 16)); /* overlaps the loop: no tail */
    for (; limit - p >= 16; p += 16) all = _mm_or_si128(all, _mm_loadu_si128((const __m128i *)p));
    return _mm_movemask_epi8(all) == 0;
  }
#endif
  for (; p < limit; p++) any |= (signed char)*p;
  return any >= 0;
}

/* The first character that a JSON string must escape; `limit` if there is none. */
static inline const char *escape_end(const char *p, const char *limit) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(31);
  while (limit - p >= 16) {
    __m128i x = _mm_loadu_si128((const __m128i *)p);
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, control), x);
    unsigned hits = (unsigned)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash))));
    if (hits) return p + __builtin_ctz(hits);
    p += 16;
  }
#endif
  while (p < limit && *p != '"' && *p != '\\' && (unsigned char)*p > 31) p++;
  return p;
}

/* The newline that ends a line, or `limit`. `odd` is set if the line holds a backslash, a control character or anything but ASCII:
   where there is none, a quote is the end of a string and a blank the only white space. */
static inline const char *line_end(const char *p, const char *limit, int *odd) {
  unsigned strange = 0;
#if defined(__SSE2__)
  const __m128i newline = _mm_set1_epi8('\n'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(32);
  while (limit - p >= 16) {
    __m128i x = _mm_loadu_si128((const __m128i *)p);
    /* signed: control characters and everything above ASCII are below the blank */
    unsigned bad = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmplt_epi8(x, control), _mm_cmpeq_epi8(x, backslash)));
    if (bad) {
      unsigned ends = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, newline));
      if (ends) {
        int at = __builtin_ctz(ends);
        *odd = strange || (bad & ((1u << at) - 1)) != 0;
        return p + at;
      }
      strange = 1;
    }
    p += 16;
  }
#endif
  for (; p < limit && *p != '\n'; p++)
    if ((unsigned char)*p < 32 || (unsigned char)*p > 127 || *p == '\\') strange = 1;
  *odd = strange != 0;
  return p;
}

/* Two overlapping moves of a fixed size are much cheaper than a memcpy of n bytes; what lies behind them is not looked at. */
static inline void copy_up_to_16(char *to, const char *s, ptrdiff_t n) {
  if (n >= 8) { memset(to + 8, 0, 8); memcpy(to, s, 8); memcpy(to + n - 8, s + n - 8, 8); return; }
  memset(to, 0, 16);
  if (n >= 4) { memcpy(to, s, 4); memcpy(to + n - 4, s + n - 4, 4); return; }
  for (ptrdiff_t i = 0; i < n; i++) to[i] = s[i];
}

/* JavaScript's text of a plain positive decimal of at most 16 characters. Writes 16 bytes to o, of which the returned number counts;
   -1: not so plain. Fifteen digits survive a double unchanged, so only zeros at the end are dropped. */
static inline ptrdiff_t plain16(const char *s, ptrdiff_t n, const char *limit, char *o) {
#if defined(__SSE2__)
  if (n > 16 || n <= 0) return -1;
  char copy[16];
  if (limit - s < 16) { copy_up_to_16(copy, s, n); s = copy; }
  const __m128i x = _mm_loadu_si128((const __m128i *)s), value = _mm_sub_epi8(x, _mm_set1_epi8('0'));
  const unsigned all = (1u << n) - 1;
  const unsigned digit = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value)) & all;
  const unsigned other = all & ~digit;
  if (other == 0) {
    if (n > 15 || (s[0] == '0' && n > 1)) return -1;
    _mm_storeu_si128((__m128i *)o, x);
    return n;
  }
  const unsigned dot = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8('.'))) & all;
  if (other != dot || (dot & (dot - 1))) return -1;
  const int at = __builtin_ctz(dot);
  if (at == 0 || (s[0] == '0' && at > 1)) return -1;
  const unsigned nonzero = digit & ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(value, _mm_setzero_si128()));
  if (nonzero == 0) { o[0] = '0'; return 1; }
  if (s[0] == '0' && __builtin_ctz(nonzero) >= 8) return -1; /* below 1e-6: written with an exponent */
  int end = 32 - __builtin_clz(nonzero);
  if (end < at) end = at;
  _mm_storeu_si128((__m128i *)o, x);
  return end;
#else
  (void)s; (void)n; (void)limit; (void)o;
  return -1;
#endif
}
#endif
