# cython: language_level=3
"""One JSON value -> the field of a record, by the `Want` of its rule."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memcpy

from tardis_market._c.json cimport Value
from tardis_market._c.text cimport parse_iso

cdef extern from *:
    object PyUnicode_New(Py_ssize_t, Py_UCS4)
    void* PyUnicode_DATA(object)

cdef enum Verdict:
    NEXT  # the message does not fit this rule
    FITS
    UNSURE  # the plain half must look

cdef enum:
    CONST = 0
    LOCAL = 1
    TEXT = 2
    DECIMAL = 3
    TIME = 4
    FLAG = 5
    LEVELS = 6
    CHOICE = 7
    PLAIN = 8
    EXTRA = 9


cdef inline str ascii_text(const char* p, Py_ssize_t n):
    text = PyUnicode_New(n, 127)
    memcpy(PyUnicode_DATA(text), p, n)
    return text


cdef inline object convert(int want, Value v, Verdict* verdict):
    cdef bint literal = v.kind == c't' or v.kind == c'f'
    cdef long long number
    if want == LEVELS:
        if v.kind == c'[':
            return PyBytes_FromStringAndSize(v.p, v.n)
        verdict[0] = NEXT
        return None
    if want == EXTRA and (v.kind == c'[' or v.kind == c'{'):
        return None
    if v.kind == c'[' or v.kind == c'{' or (want == FLAG and not literal) or (literal and want in (TEXT, DECIMAL, TIME)):
        verdict[0] = NEXT
        return None
    if want == DECIMAL or want == PLAIN or (want == TEXT and v.kind == c'"'):
        return ascii_text(v.p, v.n)
    if want == FLAG:
        return v.kind == c't'
    number = digits(v)
    if want == EXTRA:
        return number if number >= 0 else ascii_text(v.p, v.n)
    if want == TEXT:
        if 0 <= number and v.n <= 15:
            return ascii_text(v.p, v.n)
        verdict[0] = UNSURE
        return None
    if number < 0 or v.n > 16:
        number = parse_iso(v.p, v.n)
    if number < 0:
        verdict[0] = UNSURE
    return number


cdef inline long long digits(Value v) noexcept nogil:
    """-1 if it is anything but 1 to 18 digits"""
    cdef Py_ssize_t i
    cdef long long number = 0
    if v.n == 0 or v.n > 18:
        return -1
    for i in range(v.n):
        if v.p[i] < c'0' or v.p[i] > c'9':
            return -1
        number = number * 10 + v.p[i] - 48
    return number
