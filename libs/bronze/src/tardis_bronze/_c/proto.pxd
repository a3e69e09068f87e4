# cython: language_level=3, cdivision=True
"""Protobuf wire forms in C, written behind a Buf. The same as wire.py."""

from libc.string cimport memcpy, memmove

from tardis_market._c.text cimport Buf, room, unlikely

cdef enum:
    VARINT_ROOM = 10
    STAMP_ROOM = 24  # a Timestamp with its length: 1 + (1 + 10) + (1 + 5), rounded up
    TAG_ROOM = 8  # a tag is copied with its padding: one move instead of a call
    NEAR = 16  # what one move copies

cdef struct Tag:
    char data[TAG_ROOM]
    int n


cdef inline char* write_varint(char* o, unsigned long long value) noexcept nogil:
    while value > 127:
        o[0] = <char>(value | 128)
        o += 1
        value >>= 7
    o[0] = <char>value
    return o + 1


cdef inline int varint_size(unsigned long long value) noexcept nogil:
    cdef int n = 1
    while value > 127:
        value >>= 7
        n += 1
    return n


cdef inline char* write_bytes(char* o, const char* p, Py_ssize_t n) noexcept nogil:
    memcpy(o, p, n)
    return o + n


cdef inline char* write_tag(char* o, const Tag* tag) noexcept nogil:
    """Needs TAG_ROOM, whatever the tag's own size."""
    memcpy(o, tag.data, TAG_ROOM)
    return o + tag.n


cdef inline char* write_short(char* o, const char* p, Py_ssize_t n) noexcept nogil:
    """Most texts are a few digits: two moves that overlap are cheaper than a call, and read nothing outside the text."""
    if n > 16:
        memcpy(o, p, n)
    elif n >= 8:
        memcpy(o, p, 8)
        memcpy(o + n - 8, p + n - 8, 8)
    elif n >= 4:
        memcpy(o, p, 4)
        memcpy(o + n - 4, p + n - 4, 4)
    elif n:
        o[0] = p[0]
        o[n // 2] = p[n // 2]
        o[n - 1] = p[n - 1]
    return o + n


cdef inline char* write_near(char* o, const char* p, Py_ssize_t n, bint near) noexcept nogil:
    """As write_short, but by a single move if `near`: NEAR bytes may be read from p and written to o."""
    if unlikely(n > NEAR) or not near:
        return write_short(o, p, n)
    memcpy(o, p, NEAR)
    return o + n


cdef inline char* write_stamp(char* o, long long seconds, int nanos) noexcept nogil:
    """A Timestamp with its length before it, which always fits in one byte."""
    cdef char* start = o
    o += 1
    if seconds:
        o[0] = 0x08
        o = write_varint(o + 1, <unsigned long long>seconds)
    if nanos:
        o[0] = 0x10
        o = write_varint(o + 1, <unsigned long long>nanos)
    start[0] = <char>(o - start - 1)
    return o


cdef inline int put_tag(Buf* b, const Tag* tag) except -1:
    b.n = write_tag(room(b, TAG_ROOM), tag) - b.data
    return 0


cdef inline int put_sized(Buf* b, const Tag* tag, const char* p, Py_ssize_t n) except -1:
    cdef char* o = write_tag(room(b, TAG_ROOM + VARINT_ROOM + n), tag)
    b.n = write_short(write_varint(o, n), p, n) - b.data
    return 0


cdef inline int put_varint(Buf* b, const Tag* tag, unsigned long long value) except -1:
    cdef char* o = write_tag(room(b, TAG_ROOM + VARINT_ROOM), tag)
    b.n = write_varint(o, value) - b.data
    return 0


cdef inline Py_ssize_t begin_message(Buf* b, const Tag* tag) except -1:
    """Room for a length of one byte -> where it stands."""
    b.n = write_tag(room(b, TAG_ROOM + 1), tag) + 1 - b.data
    return b.n - 1


cdef inline int end_message(Buf* b, Py_ssize_t at) except -1:
    """Writes the length; the rare message of 128 bytes or more is moved on to make room for it."""
    cdef Py_ssize_t n = b.n - at - 1
    cdef int more = varint_size(n) - 1
    if more:
        room(b, more)
        memmove(b.data + at + 1 + more, b.data + at + 1, n)
        b.n += more
    write_varint(b.data + at, n)
    return 0
