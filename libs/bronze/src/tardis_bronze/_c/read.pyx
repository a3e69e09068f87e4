# cython: language_level=3, cdivision=True
"""Packs to events, and events to their envelopes. The same as split.py and scan.py."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8

from tardis_bronze.errors import EventError, PackError
from tardis_bronze.plan import CASE_NAMES

cdef struct Span:
    const char* p
    Py_ssize_t n

cdef unsigned char IS_CASE[256]
for _case in range(256):
    IS_CASE[_case] = _case in CASE_NAMES
assert max(CASE_NAMES) < 256


cdef inline const char* read_varint(const char* p, const char* e, unsigned long long* value) noexcept nogil:
    """The place behind it; NULL if it is cut off or has more than ten bytes."""
    if p < e and <unsigned char>p[0] < 128:
        value[0] = <unsigned char>p[0]
        return p + 1
    return read_long_varint(p, e, value)


cdef const char* read_long_varint(const char* p, const char* e, unsigned long long* value) noexcept nogil:
    cdef int shift = 0
    value[0] = 0
    while p < e and shift < 70:
        value[0] |= <unsigned long long>(<unsigned char>p[0] & 127) << shift
        if <unsigned char>p[0] < 128:
            return p + 1
        p += 1
        shift += 7
    return NULL


def split(bytes data not None):
    cdef const char* start = data
    cdef const char* p = start
    cdef const char* e = start + len(data)
    cdef const char* begin
    cdef unsigned long long size
    cdef list events = []
    while p < e:
        begin = p
        p = read_varint(p, e, &size)
        if p == NULL:
            raise PackError("the length of an event is cut off or malformed", begin - start)
        if size > <unsigned long long>(e - p):
            raise PackError(f"an event of {size} bytes runs past the end of the body", begin - start)
        events.append(PyBytes_FromStringAndSize(p, <Py_ssize_t>size))
        p += size
    return events


cdef str text(Span span):
    return PyUnicode_DecodeUTF8(span.p, span.n, NULL) if span.n else ""


def scan_head(bytes data not None):
    cdef const char* start = data
    cdef const char* p = start
    cdef const char* e = start + len(data)
    cdef const char* begin
    cdef Span found[16]
    cdef unsigned long long numbers[16]
    cdef unsigned long long key, value
    cdef int i, case = 0
    for i in range(16):
        found[i].n = 0
        numbers[i] = 0
    while p < e:
        begin = p
        p = read_varint(p, e, &key)
        if p != NULL:
            if key & 7 == 1 or key & 7 == 5:
                value = 8 if key & 7 == 1 else 4
            else:
                p = read_varint(p, e, &value) if key & 7 == 0 or key & 7 == 2 else NULL
        if p == NULL:
            raise EventError(f"malformed field at byte {begin - start} of {e - start}")
        if key & 7 == 0:
            if key >> 3 < 16:
                numbers[key >> 3] = value
            continue
        if value > <unsigned long long>(e - p):
            raise EventError(f"field {key >> 3} at byte {begin - start} runs past the end of the event")
        if key & 7 == 2:
            if key >> 3 < 16:
                found[key >> 3].p = p
                found[key >> 3].n = <Py_ssize_t>value
            elif key >> 3 < 256 and IS_CASE[key >> 3]:
                case = <int>(key >> 3)
        p += value
    try:
        return (
            text(found[1]), text(found[2]), text(found[3]), numbers[6], case,
            PyBytes_FromStringAndSize(found[11].p, found[11].n) if found[11].n else b"", text(found[12]), numbers[13],
        )
    except UnicodeDecodeError as error:
        raise EventError(f"a text of the envelope is not UTF-8: {error}") from None
