# cython: language_level=3
"""The output buffer, the slots of records, the characters of objects, JSON strings.

Nothing here is global: a Buf lives on the stack of its call, so that two encoders may run at the same time.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release
from cpython.object cimport PyObject
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

cdef extern from *:
    """
    #include <structmember.h>
    #include "simd.h"
    /* msgspec structs keep their fields in slots: the descriptor knows the offset, a read is one load. */
    static inline Py_ssize_t slot_offset(PyObject *descriptor) {
        if (Py_TYPE(descriptor) != &PyMemberDescr_Type) {
            PyErr_SetString(PyExc_TypeError, "records must be msgspec structs");
            return -1;
        }
        return ((PyMemberDescrObject *)descriptor)->d_member->offset;
    }
    #define SLOT(o, offset) (*(PyObject **)((char *)(o) + (offset)))
    """
    Py_ssize_t slot_offset(object descriptor) except -1
    PyObject* SLOT(PyObject* record, Py_ssize_t offset) nogil  # borrowed; NULL only if the field was deleted
    # Also keeps what stands behind it from being inlined, so that the road of nearly all data stays short.
    bint unlikely(bint) nogil

    bint is_ascii(const char* p, const char* limit) nogil
    const char* quote_end(const char* p, const char* limit) nogil
    const char* value_end(const char* p, const char* limit) nogil
    const char* escape_end(const char* p, const char* limit) nogil
    const char* line_end(const char* p, const char* limit, int* odd) nogil
    Py_ssize_t plain16(const char* s, Py_ssize_t n, const char* limit, char* o) nogil

    PyObject* Py_None
    PyObject* Py_True
    PyObject* Py_TYPE "(PyObject *)Py_TYPE"(PyObject*) nogil
    int PyUnicode_Check(PyObject*)
    int PyUnicode_CheckExact(PyObject*)
    int PyBytes_CheckExact(PyObject*)
    int PyLong_CheckExact(PyObject*)
    int PyFloat_CheckExact(PyObject*)
    int PyList_CheckExact(PyObject*)
    int PyTuple_CheckExact(PyObject*)
    int PyUnicode_IS_COMPACT_ASCII(PyObject*)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject*)
    const char* ascii_data "(const char *)PyUnicode_1BYTE_DATA"(PyObject*)
    const char* PyUnicode_AsUTF8AndSize(PyObject*, Py_ssize_t*) except NULL
    char* PyBytes_AS_STRING(PyObject*)
    Py_ssize_t PyBytes_GET_SIZE(PyObject*)
    PyObject* PyList_GET_ITEM(PyObject*, Py_ssize_t)
    Py_ssize_t PyList_GET_SIZE(PyObject*)
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE(PyObject*)
    double PyFloat_AS_DOUBLE(PyObject*)
    double PyLong_AsDouble(PyObject*) except? -1.0
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) except? -1
    int PyObject_GetBuffer(PyObject*, Py_buffer*, int) except -1
    double PyOS_string_to_double(const char*, char**, PyObject*) except? -1.0
    char* PyOS_double_to_string(double, char, int, int, int*) except NULL
    void PyMem_Free(void*)


# ---- the output buffer

cdef struct Text:
    const char* p  # NULL: there is no value
    Py_ssize_t n

cdef struct Buf:
    char* data
    Py_ssize_t n
    Py_ssize_t cap
    long long second  # the second that `moment` spells: most times of a block fall on the one before
    char moment[20]


cdef inline int buf_open(Buf* b, Py_ssize_t cap) except -1:
    """To be followed by try/finally buf_close."""
    b.n = 0
    b.cap = cap
    b.second = -(1 << 62)
    b.data = <char*>malloc(cap)
    if b.data == NULL:
        raise MemoryError()
    return 0


cdef inline void buf_close(Buf* b) noexcept nogil:
    free(b.data)
    b.data = NULL


cdef inline char* room(Buf* b, Py_ssize_t need) except NULL:
    """Where the next byte goes, with at least `need` bytes of room; the writer then moves b.n on."""
    if unlikely(b.cap - b.n < need):
        grow(b, need)
    return b.data + b.n


cdef inline int grow(Buf* b, Py_ssize_t need) except -1:
    cdef char* grown = <char*>realloc(b.data, (b.n + need) * 2)
    if grown == NULL:
        raise MemoryError()
    b.data = grown
    b.cap = (b.n + need) * 2
    return 0


cdef inline int put(Buf* b, const char* p, Py_ssize_t n) except -1:
    memcpy(room(b, n), p, n)
    b.n += n
    return 0


cdef inline int put_byte(Buf* b, char c) except -1:
    room(b, 1)[0] = c
    b.n += 1
    return 0


# ---- the characters of an object

cdef inline const char* utf8_of(PyObject* x, Py_ssize_t* n) except NULL:
    """Of a str. Digits and names are ASCII, which stands in the object as it is: no call is needed."""
    if PyUnicode_IS_COMPACT_ASCII(x):
        n[0] = PyUnicode_GET_LENGTH(x)
        return ascii_data(x)
    return PyUnicode_AsUTF8AndSize(x, n)


cdef inline int text_of(PyObject* x, Text* t) except -1:
    """The characters of a str, bytes or Raw. The last two were cut out of a JSON text: the quotes of a JSON string are left out.
    They stay where they are as long as x lives."""
    cdef Py_buffer view
    if PyUnicode_CheckExact(x):
        t.p = utf8_of(x, &t.n)
        return 0
    if PyBytes_CheckExact(x):
        t.p = PyBytes_AS_STRING(x)
        t.n = PyBytes_GET_SIZE(x)
    else:
        PyObject_GetBuffer(x, &view, PyBUF_SIMPLE)
        t.p = <const char*>view.buf
        t.n = view.len
        PyBuffer_Release(&view)
    if t.n >= 2 and t.p[0] == c'"' and t.p[t.n - 1] == c'"':
        t.p += 1
        t.n -= 2
    return 0


# ---- strings

cdef inline int put_escaped(Buf* b, const char* p, Py_ssize_t n) except -1:
    """The characters of a JSON string as JSON.stringify escapes them, without the quotes."""
    cdef char* o = room(b, n * 6)
    cdef const char* limit = p + n
    cdef const char* stop
    cdef unsigned char c
    while True:
        stop = escape_end(p, limit)
        memcpy(o, p, stop - p)
        o += stop - p
        if stop == limit:
            break
        c = <unsigned char>stop[0]
        o[0] = c'\\'
        o[1] = (c'"' if c == 34 else c'\\' if c == 92 else c'b' if c == 8 else c't' if c == 9 else c'n' if c == 10
                else c'f' if c == 12 else c'r' if c == 13 else c'u')
        if o[1] == c'u':
            memcpy(o + 2, b"00", 2)
            o[4] = <char>(48 + (c >> 4))
            o[5] = <char>(48 + (c & 15) if (c & 15) < 10 else 87 + (c & 15))
            o += 4
        o += 2
        p = stop + 1
    b.n = o - b.data
    return 0


cdef inline int put_string(Buf* b, PyObject* x) except -1:
    """A str as JSON string with its quotes; ids may be ints."""
    cdef Text t
    cdef char* o
    if PyLong_CheckExact(x):
        digits = str(<object>x)
        t.p = utf8_of(<PyObject*>digits, &t.n)
    elif PyUnicode_Check(x):
        t.p = utf8_of(x, &t.n)
    else:
        raise TypeError("a text field must be str or int")
    o = room(b, t.n + 2)
    o[0] = c'"'
    if escape_end(t.p, t.p + t.n) == t.p + t.n:
        memcpy(o + 1, t.p, t.n)
        o[t.n + 1] = c'"'
        b.n += t.n + 2
        return 0
    b.n += 1
    put_escaped(b, t.p, t.n)
    return put_byte(b, c'"')
