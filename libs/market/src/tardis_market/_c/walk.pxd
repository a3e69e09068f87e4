# cython: language_level=3
"""Steps over JSON text that was checked when its message was read: blanks, separators, single values.

Other bytes than JSON may raise ValueError or yield odd text, but nothing at or behind `e` is ever read.
"""

from tardis_market._c.buffer cimport Text, quote_end, unlikely, value_end

cdef enum:
    FEW = 4  # values in one array of a plain level


cdef inline const char* blanks(const char* p, const char* e) noexcept nogil:
    while p < e and unlikely(<unsigned char>p[0] <= 32) and (p[0] == c' ' or p[0] == c'\n' or p[0] == c'\r' or p[0] == c'\t'):
        p += 1
    return p


cdef inline const char* separator(const char* p, const char* e, char end) except NULL:
    """Behind the comma, or at the end mark."""
    p = blanks(p, e)
    if p < e and p[0] == end:
        return p
    if unlikely(p >= e or p[0] != c','):
        return cut_off()
    return blanks(p + 1, e)


cdef inline const char* closed(const char* p, const char* e) except NULL:
    return cut_off() if unlikely(p >= e) else p + 1


# ---- what nearly all levels look like: no blanks, no backslash, nothing nested. NULL: look closer

cdef inline const char* plain_value(const char* p, const char* e, Text* t) noexcept nogil:
    cdef const char* end
    if p < e and p[0] == c'"':
        end = quote_end(p + 1, e)
        t.p = p + 1
        t.n = end - t.p
        if unlikely(end >= e) or unlikely(end[0] != c'"'):
            return NULL
        return end + 1
    end = value_end(p, e)
    t.p = p
    t.n = end - p
    if unlikely(t.n == 0):
        return NULL
    return end


cdef inline const char* plain_array(const char* p, const char* e, Text* items, int* count) noexcept nogil:
    """The array at p, of 1 to FEW values -> behind it."""
    cdef int i = 0
    while i < FEW:
        p = plain_value(p + 1, e, &items[i])
        if unlikely(p == NULL) or unlikely(p >= e):
            return NULL
        i += 1
        if p[0] == c']':
            count[0] = i
            return p + 1
        if unlikely(p[0] != c','):
            return NULL
    return NULL


cdef inline const char* plain_member(const char* p, const char* e, Text* key, Text* value) noexcept nogil:
    """"key":value at p -> behind it."""
    if p >= e or p[0] != c'"':
        return NULL
    p = plain_value(p, e, key)
    if p == NULL or p >= e or p[0] != c':':
        return NULL
    return plain_value(p + 1, e, value)


# ---- any JSON

cdef inline const char* string(const char* p, const char* e, Text* t, bint* escaped) except NULL:
    """The string whose first quote is at p -> t, without the quotes, and the place behind it."""
    t.p = p + 1
    p = quote_end(t.p, e)
    escaped[0] = p < e and p[0] == c'\\'
    if escaped[0]:
        p = escaped_end(p, e)
    if p >= e:
        return cut_off()
    t.n = p - t.p
    return p + 1


cdef inline const char* scalar(const char* p, const char* e, Text* t) except NULL:
    """The value at p -> t, without the quotes of a string, and the place behind it. A nested list or object counts as one value."""
    cdef bint escaped
    if p < e and p[0] == c'"':
        return string(p, e, t, &escaped)
    t.p = p
    p = value_end(p, e)
    if p < e and (p[0] == c'"' or p[0] == c'[' or p[0] == c'{'):
        p = nested_end(t.p, e)
    t.n = p - t.p
    if t.n == 0:
        raise ValueError("a level has an empty place")
    return p


cdef inline const char* member(const char* p, const char* e, Text* key, Text* value, bint* escaped) except NULL:
    if p >= e or p[0] != c'"':
        raise ValueError("a level is no JSON object")
    p = blanks(string(p, e, key, escaped), e)
    if p >= e or p[0] != c':':
        raise ValueError("a level is no JSON object")
    return scalar(blanks(p + 1, e), e, value)


cdef inline const char* escaped_end(const char* p, const char* e) noexcept nogil:
    """From a backslash within a string to the quote that closes it; `e` if there is none."""
    while p < e and p[0] == c'\\':
        p = quote_end(p + 2, e) if e - p > 2 else e
    return p


cdef inline const char* nested_end(const char* p, const char* e) except NULL:
    """Behind the value at p, which holds brackets or strings."""
    cdef int depth = 0
    cdef bint escaped
    cdef Text inner
    while p < e:
        if p[0] == c'"':
            p = string(p, e, &inner, &escaped)
            continue
        if p[0] == c'[' or p[0] == c'{':
            depth += 1
        elif p[0] == c']' or p[0] == c'}':
            depth -= 1
        if depth < 0 or (depth == 0 and (p[0] == c',' or p[0] == c':' or <unsigned char>p[0] <= 32)):
            break
        p += 1
    return p


cdef inline const char* cut_off() except NULL:
    raise ValueError("a level is cut off")
