# cython: language_level=3
"""Numbers as JavaScript prints them; `numbers.py` says the same in Python."""

from cpython.object cimport PyObject
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from tardis_market._c.buffer cimport (
    PyFloat_AS_DOUBLE,
    PyFloat_CheckExact,
    PyLong_AsDouble,
    PyLong_AsLongLongAndOverflow,
    PyLong_CheckExact,
    PyMem_Free,
    PyOS_double_to_string,
    PyOS_string_to_double,
    Text,
    plain16,
    text_of,
)

cdef enum:
    NUMBER_ROOM = 32  # JavaScript prints a double in at most 25 characters; the fast path stores 16 at once


cdef inline char* write_digits(char* o, long long value) noexcept nogil:
    """At most 20 characters -> the place behind them."""
    cdef char text[20]
    cdef int k = 20
    cdef unsigned long long rest = <unsigned long long>value
    if value < 0:
        o[0] = c'-'
        o += 1
        rest = 0 - rest
    while True:
        k -= 1
        text[k] = <char>(48 + rest % 10)
        rest //= 10
        if rest == 0:
            break
    memcpy(o, text + k, 20 - k)
    return o + 20 - k


cdef inline Py_ssize_t plain_decimal(const char* s, Py_ssize_t n, char* o) noexcept nogil:
    """JavaScript's text of a plain decimal of at most 15 digits, not below 1e-6; -1: take the long way."""
    cdef Py_ssize_t i = 0, dot = -1, start, end = n
    cdef bint negative = n > 0 and s[0] == c'-'
    if n == 0 or n > 24:
        return -1
    i = negative
    while i + 1 < n and s[i] == c'0' and s[i + 1] != c'.':
        i += 1
    start = i
    while i < n:
        if s[i] == c'.':
            if dot >= 0:
                return -1
            dot = i
        elif s[i] < c'0' or s[i] > c'9':
            return -1
        i += 1
    if start == n or start == dot:
        return -1
    if dot >= 0:
        while s[end - 1] == c'0':
            end -= 1
        if end - 1 == dot:
            end = dot
        if end - start > 16 or (end - start >= 8 and memcmp(s + start, b"0.000000", 8) == 0):
            return -1
    elif end - start > 15:
        return -1
    if negative and end - start == 1 and s[start] == c'0':
        negative = 0
    if negative:
        o[0] = c'-'
    memcpy(o + negative, s + start, end - start)
    return negative + end - start


cdef inline char* write_double(char* o, double value) except NULL:
    """ECMA-262 Number::toString: the shortest digits that read back as the same double, laid out by the size of the exponent.
    What is not finite is null."""
    cdef char digits[32]
    cdef char* shortest
    cdef char* c
    cdef Py_ssize_t k = 0, point = 0, exponent, i
    cdef bint seen_dot = 0
    if value != value or value - value != 0:
        memcpy(o, b"null", 4)
        return o + 4
    if value == 0:
        o[0] = c'0'
        return o + 1
    if value < 0:
        o[0] = c'-'
        o += 1
        value = -value
    shortest = PyOS_double_to_string(value, c'r', 0, 0, NULL)
    c = shortest
    while c[0] != 0 and c[0] != c'e':
        if c[0] == c'.':
            seen_dot = 1
        elif k or c[0] != c'0':
            digits[k] = c[0]
            k += 1
            point += not seen_dot
        elif seen_dot:
            point -= 1
        c += 1
    if c[0] == c'e':
        exponent = 0
        i = 2 if c[1] == c'-' or c[1] == c'+' else 1
        while c[i] != 0:
            exponent = exponent * 10 + c[i] - 48
            i += 1
        point += -exponent if c[1] == c'-' else exponent
    PyMem_Free(shortest)
    while digits[k - 1] == c'0':
        k -= 1
    return write_layout(o, digits, k, point)


cdef inline char* write_layout(char* o, const char* digits, Py_ssize_t k, Py_ssize_t point) noexcept nogil:
    """The digits with the decimal point behind the `point`-th, as ECMA-262 lays them out."""
    cdef Py_ssize_t exponent = point - 1
    if k <= point <= 21:
        memcpy(o, digits, k)
        memset(o + k, c'0', point - k)
        return o + point
    if 0 < point <= 21:
        memcpy(o, digits, point)
        o[point] = c'.'
        memcpy(o + point + 1, digits + point, k - point)
        return o + k + 1
    if -6 < point <= 0:
        memcpy(o, b"0.", 2)
        memset(o + 2, c'0', -point)
        memcpy(o + 2 - point, digits, k)
        return o + 2 - point + k
    o[0] = digits[0]
    o += 1
    if k > 1:
        o[0] = c'.'
        memcpy(o + 1, digits + 1, k - 1)
        o += k
    o[0] = c'e'
    o[1] = c'-' if exponent < 0 else c'+'
    return write_digits(o + 2, -exponent if exponent < 0 else exponent)


cdef inline bint is_decimal(const char* s, Py_ssize_t n) noexcept nogil:
    """[+-] digits [. digits] [e [+-] digits], with at least one digit on a side of the point"""
    cdef Py_ssize_t i = 0, before
    if i < n and (s[i] == c'-' or s[i] == c'+'):
        i += 1
    before = i
    while i < n and c'0' <= s[i] <= c'9':
        i += 1
    before = i - before
    if i < n and s[i] == c'.':
        i += 1
        while i < n and c'0' <= s[i] <= c'9':
            i += 1
            before += 1
    if before == 0:
        return 0
    if i < n and (s[i] == c'e' or s[i] == c'E'):
        i += 1
        if i < n and (s[i] == c'-' or s[i] == c'+'):
            i += 1
        before = i
        while i < n and c'0' <= s[i] <= c'9':
            i += 1
        if i == before:
            return 0
    return i == n


cdef inline double decimal_value(const char* s, Py_ssize_t n) except? -1.0:
    """The double that is nearest to a decimal; NaN if the text is none. Blanks alone are 0, as JavaScript's Number() reads them."""
    cdef char stack[64]
    cdef char* copy = stack
    cdef double value
    while n > 0 and (s[0] == c' ' or 9 <= s[0] <= 13):
        s += 1
        n -= 1
    while n > 0 and (s[n - 1] == c' ' or 9 <= s[n - 1] <= 13):
        n -= 1
    if n == 0:
        return 0
    if not is_decimal(s, n):
        return float("nan")
    if n >= 64:
        copy = <char*>malloc(n + 1)
        if copy == NULL:
            raise MemoryError()
    memcpy(copy, s, n)
    copy[n] = 0
    try:
        value = PyOS_string_to_double(copy, NULL, NULL)
    finally:
        if copy != stack:
            free(copy)
    return value


cdef inline char* write_decimal(char* o, const char* s, Py_ssize_t n, const char* limit) except NULL:
    """JavaScript's text of the decimal s; needs NUMBER_ROOM. Nothing at or behind `limit` is read."""
    cdef Py_ssize_t m = plain16(s, n, limit, o)
    if m < 0:
        m = plain_decimal(s, n, o)
    if m < 0:
        return write_double(o, decimal_value(s, n))
    return o + m


cdef inline char* write_integer(char* o, PyObject* x) except NULL:
    """A Python int as JavaScript prints the double nearest to it; needs NUMBER_ROOM."""
    cdef int overflow = 0
    cdef double nearest = 0
    cdef long long value = PyLong_AsLongLongAndOverflow(x, &overflow)
    if not overflow and -1000000000000000LL < value < 1000000000000000LL:
        return write_digits(o, value)
    try:
        nearest = PyLong_AsDouble(x)
    except OverflowError:
        nearest = float("inf")
    return write_double(o, nearest)


cdef inline char* write_number(char* o, PyObject* x) except NULL:
    """JavaScript's text of a Decimal (int, float, str, bytes, Raw); needs NUMBER_ROOM."""
    cdef Text t
    if PyLong_CheckExact(x):
        return write_integer(o, x)
    if PyFloat_CheckExact(x):
        return write_double(o, PyFloat_AS_DOUBLE(x))
    text_of(x, &t)
    return write_decimal(o, t.p, t.n, t.p + t.n)
