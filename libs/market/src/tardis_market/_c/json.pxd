# cython: language_level=3
"""Strict JSON over one line that holds no backslash, no control character and nothing but ASCII (`line_end` has looked).

Every function takes the end of the line and returns the place behind what it read, or NULL if the text is not JSON after all; the
plain half then decides what the line is.
"""

from tardis_market._c.text cimport quote_end

cdef enum:
    DEEPEST = 32  # deeper messages are left to the plain half, so that no line can exhaust the stack

cdef struct Value:
    const char* p  # of a string: without its quotes
    Py_ssize_t n
    char kind  # '"' string, '0' number, 't' 'f' 'n' literals, '[' '{', 0 nothing


cdef inline const char* spaces(const char* p, const char* e) noexcept nogil:
    while p < e and p[0] == c' ':
        p += 1
    return p


cdef inline const char* read_value(const char* p, const char* e, Value* v) noexcept nogil:
    cdef const char* end
    if p >= e:
        return NULL
    v.p = p
    v.kind = p[0]
    if p[0] == c'"':
        end = quote_end(p + 1, e)
        if end >= e:
            return NULL
        v.p = p + 1
        v.n = end - v.p
        return end + 1
    if p[0] == c'-' or c'0' <= p[0] <= c'9':
        v.kind = c'0'
        end = skip_number(p, e)
    elif p[0] == c'[' or p[0] == c'{':
        end = skip_nested(p, e, DEEPEST)
    else:
        end = skip_literal(p, e)
    v.n = end - p
    return end


cdef inline const char* skip_number(const char* p, const char* e) noexcept nogil:
    if p[0] == c'-':
        p += 1
    if p >= e or p[0] < c'0' or p[0] > c'9':
        return NULL
    if p[0] == c'0' and p + 1 < e and c'0' <= p[1] <= c'9':
        return NULL
    p = skip_digits(p, e)
    if p < e and p[0] == c'.':
        if p + 1 >= e or p[1] < c'0' or p[1] > c'9':
            return NULL
        p = skip_digits(p + 1, e)
    if p < e and (p[0] == c'e' or p[0] == c'E'):
        p += 1
        if p < e and (p[0] == c'-' or p[0] == c'+'):
            p += 1
        if p >= e or p[0] < c'0' or p[0] > c'9':
            return NULL
        p = skip_digits(p, e)
    return p


cdef inline const char* skip_digits(const char* p, const char* e) noexcept nogil:
    while p < e and c'0' <= p[0] <= c'9':
        p += 1
    return p


cdef inline const char* skip_literal(const char* p, const char* e) noexcept nogil:
    if e - p >= 4 and p[0] == c't' and p[1] == c'r' and p[2] == c'u' and p[3] == c'e':
        return p + 4
    if e - p >= 4 and p[0] == c'n' and p[1] == c'u' and p[2] == c'l' and p[3] == c'l':
        return p + 4
    if e - p >= 5 and p[0] == c'f' and p[1] == c'a' and p[2] == c'l' and p[3] == c's' and p[4] == c'e':
        return p + 5
    return NULL


cdef inline const char* skip_nested(const char* p, const char* e, int depth) noexcept nogil:
    """Behind the list or object at p."""
    cdef Value v
    cdef bint is_object = p[0] == c'{'
    cdef char end = c'}' if is_object else c']'
    p = spaces(p + 1, e)
    if p < e and p[0] == end:
        return p + 1
    while True:
        if is_object:
            p = read_key(p, e, &v)
            if p == NULL:
                return NULL
        if p < e and (p[0] == c'[' or p[0] == c'{'):
            p = skip_nested(p, e, depth - 1) if depth else NULL
        else:
            p = read_value(p, e, &v)
        if p == NULL:
            return NULL
        p = spaces(p, e)
        if p >= e:
            return NULL
        if p[0] == end:
            return p + 1
        if p[0] != c',':
            return NULL
        p = spaces(p + 1, e)


cdef inline const char* read_key(const char* p, const char* e, Value* key) noexcept nogil:
    """The key at p; behind its colon, where the value begins."""
    cdef const char* end
    if p >= e or p[0] != c'"':
        return NULL
    key.p = p + 1
    end = quote_end(key.p, e)
    key.n = end - key.p
    p = spaces(end + 1, e) if end < e else e
    if p >= e or p[0] != c':':
        return NULL
    return spaces(p + 1, e)
