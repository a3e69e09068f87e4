# cython: language_level=3, cdivision=True
"""A record as the bytes of its payload message. The same as payload.py, which tells the rules."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject
from libc.string cimport memcmp

from tardis_bronze._c.proto cimport (
    NEAR, STAMP_ROOM, TAG_ROOM, Tag, begin_message, end_message, put_sized, put_tag, put_varint, write_near, write_stamp, write_tag,
)
from tardis_market._c.levels cimport Cursor, LayoutSlots, next_level, open_levels, open_rendered, plain_level
from tardis_market._c.text cimport (
    NUMBER_ROOM, SLOT, Buf, PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE,
    PyLong_AsLongLongAndOverflow, PyLong_CheckExact, PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE,
    PyUnicode_CheckExact, Py_None, Text, is_ascii, room, text_of, time_parts, time_value, unlikely, utf8_of, write_digits,
    write_double,
)

cdef extern from "Python.h":
    int PyObject_IsTrue(PyObject*) except -1

cdef enum Kind:  # tables.Kind; a check at import keeps the two equal
    TEXT = 0
    NUMBER = 1
    INTEGER = 2
    TIME = 3
    FLAG = 4
    CHOICE = 5
    LEVELS = 6
    RENDERED = 7
    TOP = 8

cdef struct Step:
    Kind kind
    Py_ssize_t slot
    Tag tag
    Tag second  # of the amount, for TOP
    bint identity
    unsigned long long largest
    PyObject* choices  # the dict of the plan's own Step, which lives as long as the module

cdef struct Level:
    Tag price
    Tag amount
    LayoutSlots layout


cdef inline PyObject* slot(PyObject* record, Py_ssize_t offset) except NULL:
    cdef PyObject* value = SLOT(record, offset)
    if value == NULL:
        raise AttributeError("a field of the record was deleted")
    return value


cdef inline int put_step(Buf* b, const Step* step, PyObject* record, Py_ssize_t layout, const Level* level) except -1:
    cdef PyObject* value = slot(record, step.slot)
    if step.kind == NUMBER:
        return put_decimal(b, &step.tag, value)
    if value == Py_None:
        return 0
    if step.kind == TIME:
        return put_time_field(b, &step.tag, value)
    if step.kind == TEXT:
        return put_text(b, &step.tag, value)
    if step.kind == CHOICE:
        return put_choice(b, step, value)
    if step.kind == LEVELS:
        return put_levels(b, step, value, slot(record, layout), level)
    if step.kind == RENDERED:
        return put_rendered(b, step, value, level)
    if step.kind == FLAG:
        return put_varint(b, &step.tag, 1) if PyObject_IsTrue(value) else 0
    if step.kind == INTEGER:
        return put_integer(b, step, value)
    return put_top(b, step, value)


# ---- scalars

cdef inline int put_digits(Buf* b, const Tag* tag, PyObject* x) except -1:
    cdef char digits[24]
    cdef int overflow = 0
    cdef long long value = PyLong_AsLongLongAndOverflow(x, &overflow)
    if not overflow:
        return put_sized(b, tag, digits, write_digits(digits, value) - digits)
    return put_object(b, tag, str(<object>x))


cdef inline int put_object(Buf* b, const Tag* tag, str text) except -1:
    cdef Text t
    t.p = utf8_of(<PyObject*>text, &t.n)
    return put_sized(b, tag, t.p, t.n)


cdef inline int put_text(Buf* b, const Tag* tag, PyObject* x) except -1:
    cdef Text t
    if PyLong_CheckExact(x):
        return put_digits(b, tag, x)
    checked_text(x, &t)
    return put_sized(b, tag, t.p, t.n)


cdef inline int checked_text(PyObject* x, Text* t) except -1:
    text_of(x, t)
    return 0 if PyUnicode_CheckExact(x) else check_utf8(t[0])


cdef inline int check_utf8(Text t) except -1:
    """A string that is not UTF-8 would make the whole event unreadable."""
    if not is_ascii(t.p, t.p + t.n):
        t.p[:t.n].decode()
    return 0


cdef inline int put_value(Buf* b, const Tag* tag, Text t) except -1:
    return 0 if t.p == NULL or is_null(t) else put_sized(b, tag, t.p, t.n)


cdef inline bint is_null(Text t) noexcept nogil:
    """JSON's null is no value."""
    return t.n == 4 and t.p[0] == c'n' and memcmp(t.p, b"null", 4) == 0


cdef inline int put_decimal(Buf* b, const Tag* tag, PyObject* x) except -1:
    cdef Text t
    if x == Py_None:
        return 0
    if PyLong_CheckExact(x):
        return put_digits(b, tag, x)
    if PyFloat_CheckExact(x):
        return put_double(b, tag, PyFloat_AS_DOUBLE(x))
    checked_text(x, &t)
    return put_value(b, tag, t)


cdef inline int put_double(Buf* b, const Tag* tag, double value) except -1:
    cdef char digits[NUMBER_ROOM]
    if value != value:
        return put_sized(b, tag, b"NaN", 3)
    if value - value != 0:
        return put_sized(b, tag, b"Infinity", 8) if value > 0 else put_sized(b, tag, b"-Infinity", 9)
    return put_sized(b, tag, digits, write_double(digits, value) - digits)


cdef inline int put_integer(Buf* b, const Step* step, PyObject* x) except -1:
    cdef int overflow = 0
    cdef long long small
    cdef double d
    cdef unsigned long long value
    if PyFloat_CheckExact(x):
        d = PyFloat_AS_DOUBLE(x)
        if not 0 < d < 18446744073709551616.0:  # 2**64; a comparison with NaN is false
            return 0
        value = <unsigned long long>d
        if <double>value != d:
            return 0
    else:
        small = PyLong_AsLongLongAndOverflow(x, &overflow)
        if overflow < 0 or small < 0 and not overflow:
            return 0
        if overflow and <object>x > step.largest:
            return 0
        value = <unsigned long long>(<object>x) if overflow else <unsigned long long>small
    if value == 0 or value > step.largest:
        return 0
    return put_varint(b, &step.tag, value)


cdef inline int put_time_field(Buf* b, const Tag* tag, PyObject* x) except -1:
    cdef long long seconds
    cdef int nanos
    time_parts(time_value(x), &seconds, &nanos)
    put_tag(b, tag)
    b.n = write_stamp(room(b, STAMP_ROOM), seconds, nanos) - b.data
    return 0


cdef inline int put_choice(Buf* b, const Step* step, PyObject* x) except -1:
    cdef PyObject* number = PyDict_GetItemWithError(<object>step.choices, <object>x)
    return 0 if number == NULL else put_varint(b, &step.tag, <unsigned long long>(<object>number))


# ---- levels

cdef inline int put_levels(Buf* b, const Step* step, PyObject* levels, PyObject* layout, const Level* level) except -1:
    cdef Cursor c
    cdef Text price, amount
    cdef Py_ssize_t i = 0
    open_levels(&c, levels, layout, &level.layout)
    if c.items == NULL:
        price.p = c.p
        price.n = c.e - c.p
        check_utf8(price)
        put_plain_levels(b, step, &c)
        while next_level(&c, &price, &amount):
            put_level(b, step, price, amount, level)
        return 0
    while i < PyList_GET_SIZE(levels):
        put_pair(b, step, PyList_GET_ITEM(levels, i), level)
        i += 1
    return 0


cdef inline int put_plain_levels(Buf* b, const Step* step, Cursor* c) except -1:
    """The levels of JSON text up to the first that is not plain, most often all: here a book change spends its time."""
    cdef Text price, amount
    cdef const char* end
    cdef const char* p = c.p
    while True:
        end = plain_level(c, p, &price, &amount)
        if unlikely(end == NULL) or unlikely(not is_short(price, amount)):
            return 0
        put_short_level(b, step, price, amount, c.e - end >= NEAR)
        c.i += 1
        c.p = end
        if end >= c.e or end[0] != c',':
            return 0
        p = end + 1


cdef inline bint is_short(Text price, Text amount) noexcept nogil:
    """Both values are there, and all lengths fit in one byte."""
    return price.p != NULL and amount.p != NULL and price.n + amount.n < 124 and not is_null(price) and not is_null(amount)


cdef inline int put_short_level(Buf* b, const Step* step, Text price, Text amount, bint near) except -1:
    """`near`: NEAR bytes may be read from either text, however short it is."""
    cdef char* o = write_tag(room(b, TAG_ROOM + 128 + NEAR), &step.tag)
    o[0] = <char>(price.n + amount.n + 4)
    o[1] = 0x0A
    o[2] = <char>price.n
    o = write_near(o + 3, price.p, price.n, near)
    o[0] = 0x12
    o[1] = <char>amount.n
    b.n = write_near(o + 2, amount.p, amount.n, near) - b.data
    return 0


cdef inline int put_level(Buf* b, const Step* step, Text price, Text amount, const Level* level) except -1:
    cdef Py_ssize_t at
    if is_short(price, amount):
        return put_short_level(b, step, price, amount, 0)
    at = begin_message(b, &step.tag)
    put_value(b, &level.price, price)
    put_value(b, &level.amount, amount)
    return end_message(b, at)


cdef inline int put_pair(Buf* b, const Step* step, PyObject* pair, const Level* level) except -1:
    """A level of Python values; unlike JSON text these may be floats that are not finite, or ints of any size."""
    cdef PyObject* price
    cdef PyObject* amount
    cdef Text t[2]
    cdef Py_ssize_t at
    if not PyTuple_CheckExact(pair) or PyTuple_GET_SIZE(pair) != 2:
        raise TypeError("a level must be a tuple of price and amount")
    price = PyTuple_GET_ITEM(pair, 0)
    amount = PyTuple_GET_ITEM(pair, 1)
    if PyUnicode_CheckExact(price) and PyUnicode_CheckExact(amount):
        text_of(price, &t[0])
        text_of(amount, &t[1])
        return put_level(b, step, t[0], t[1], level)
    at = begin_message(b, &step.tag)
    put_decimal(b, &level.price, price)
    put_decimal(b, &level.amount, amount)
    return end_message(b, at)


cdef inline int put_rendered(Buf* b, const Step* step, PyObject* side, const Level* level) except -1:
    cdef Cursor c
    cdef Text price, amount
    open_rendered(&c, side)
    while next_level(&c, &price, &amount):
        if price.p != NULL or amount.p != NULL:
            put_level(b, step, price, amount, level)
    return 0


cdef inline int put_top(Buf* b, const Step* step, PyObject* side) except -1:
    cdef Cursor c
    cdef Text price, amount
    open_rendered(&c, side)
    while next_level(&c, &price, &amount):
        if price.p != NULL or amount.p != NULL:
            put_value(b, &step.tag, price)
            return put_value(b, &step.second, amount)
    return 0
