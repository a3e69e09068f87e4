# cython: language_level=3
"""Walks the levels of a book change, in whatever form the mapper left them: the exchange's own JSON list with its Layout, or a list
of (price, amount). Each step yields the two as text, every digit kept; `Text.p == NULL` where the level has no such value.

As in walk.pxd, bytes that are no JSON may raise or yield odd text, but nothing outside them is ever read.
"""

from cpython.object cimport PyObject
from libc.string cimport memcmp, memcpy

from tardis_market._c.text cimport (
    SLOT,
    Buf,
    NUMBER_ROOM,
    PyFloat_AS_DOUBLE,
    PyFloat_CheckExact,
    PyList_CheckExact,
    PyList_GET_ITEM,
    PyList_GET_SIZE,
    PyLong_AsLongLongAndOverflow,
    PyLong_CheckExact,
    PyTuple_CheckExact,
    PyTuple_GET_ITEM,
    PyTuple_GET_SIZE,
    Py_None,
    Text,
    room,
    slot_offset,
    text_of,
    unlikely,
    utf8_of,
    write_decimal,
    write_digits,
    write_double,
    write_integer,
)
from tardis_market._c.walk cimport FEW, blanks, closed, member, plain_array, plain_member, scalar, separator

cdef struct LayoutSlots:  # where records.Layout keeps its fields; filled once per module
    Py_ssize_t price
    Py_ssize_t amount
    Py_ssize_t delete

cdef struct Cursor:
    PyObject* items  # the list of tuples, or NULL: JSON text from p to e
    Py_ssize_t i
    const char* p
    const char* e
    int price_at  # position in an array, or -1: by key
    int amount_at
    Text price_key
    Text amount_key
    Text delete  # an array whose first item starts like this deletes the level; NULL: none does
    char scratch[2][32]  # digits of Python numbers


cdef inline int layout_slots(LayoutSlots* slots, layout_class) except -1:
    slots.price = slot_offset(layout_class.price)
    slots.amount = slot_offset(layout_class.amount)
    slots.delete = slot_offset(layout_class.delete)
    return 0


cdef inline int open_levels(Cursor* c, PyObject* levels, PyObject* layout, const LayoutSlots* slots) except -1:
    """Both `levels` and `layout` must outlive the walk."""
    cdef Text t
    cdef PyObject* price = SLOT(layout, slots.price)
    cdef PyObject* delete = SLOT(layout, slots.delete)
    c.i = 0
    if PyList_CheckExact(levels):
        c.items = levels
        return 0
    text_of(levels, &t)
    open_text(c, t)
    if PyLong_CheckExact(price):
        c.price_at = <object>price
        c.amount_at = <object>SLOT(layout, slots.amount)
        if c.price_at < 0 or c.amount_at < 0:
            raise ValueError("the positions of a layout of levels count from 0")
    else:
        c.price_key.p = utf8_of(price, &c.price_key.n)
        c.amount_key.p = utf8_of(SLOT(layout, slots.amount), &c.amount_key.n)
    if delete != Py_None:
        c.delete.p = utf8_of(delete, &c.delete.n)
    c.p = blanks(c.p, c.e)
    if c.p >= c.e or c.p[0] != c'[':
        raise ValueError("levels must be a JSON list")
    c.p += 1
    return 0


cdef inline int open_rendered(Cursor* c, PyObject* rendered) except -1:
    """The levels of a BookSnapshot: {"price":1,"amount":2},{} without brackets round them."""
    cdef Text t
    text_of(rendered, &t)
    open_text(c, t)
    c.price_key.p = b"price"
    c.price_key.n = 5
    c.amount_key.p = b"amount"
    c.amount_key.n = 6
    return 0


cdef inline void open_text(Cursor* c, Text t) noexcept nogil:
    c.items = NULL
    c.i = 0
    c.p = t.p
    c.e = t.p + t.n
    c.price_at = c.amount_at = -1
    c.delete.p = NULL


cdef inline int next_level(Cursor* c, Text* price, Text* amount) except -1:
    """1: a level was read; 0: there are no more."""
    cdef const char* end
    if c.items != NULL:
        return next_pair(c, price, amount)
    c.p = blanks(c.p, c.e)
    if c.p < c.e and c.p[0] == c',' and c.i:
        c.p = blanks(c.p + 1, c.e)
    if c.p >= c.e or c.p[0] == c']':
        return 0
    c.i += 1
    end = plain_level(c, c.p, price, amount)
    if unlikely(end == NULL):
        return next_odd_level(c, price, amount)
    c.p = end
    return 1


cdef inline const char* level_limit(Cursor* c, Text t) noexcept nogil:
    """How far may be read behind a text of this cursor: more than the text itself lets numbers be looked at 16 characters at once."""
    return t.p + t.n if c.items != NULL or t.n <= 1 else c.e


cdef inline int put_level(Buf* b, Cursor* c, Text price, Text amount) except -1:
    """{"price":1,"amount":2}"""
    cdef char* start = room(b, 2 * NUMBER_ROOM + 32)
    cdef char* o = start
    memcpy(o, b'{"price":', 9)
    o = put_value(o + 9, c, price)
    memcpy(o, b',"amount":', 10)
    o = put_value(o + 10, c, amount)
    o[0] = c'}'
    b.n += o + 1 - start
    return 0


cdef inline char* put_value(char* o, Cursor* c, Text t) except NULL:
    if t.p == NULL:
        memcpy(o, b"null", 4)
        return o + 4
    return write_decimal(o, t.p, t.n, level_limit(c, t))


# ---- one step

cdef inline int next_pair(Cursor* c, Text* price, Text* amount) except -1:
    cdef PyObject* pair
    if c.i >= PyList_GET_SIZE(c.items):
        return 0
    pair = PyList_GET_ITEM(c.items, c.i)
    c.i += 1
    if not PyTuple_CheckExact(pair) or PyTuple_GET_SIZE(pair) != 2:
        raise TypeError("a level must be a tuple of price and amount")
    decimal_text(PyTuple_GET_ITEM(pair, 0), price, c.scratch[0])
    decimal_text(PyTuple_GET_ITEM(pair, 1), amount, c.scratch[1])
    return 1


cdef inline int decimal_text(PyObject* x, Text* t, char* scratch) except -1:
    """The text of a Decimal; digits of Python numbers are written to `scratch` (NUMBER_ROOM bytes)."""
    cdef int overflow = 0
    cdef long long value
    if x == Py_None:
        t.p = NULL
        t.n = 0
        return 0
    if PyLong_CheckExact(x):
        t.p = scratch
        value = PyLong_AsLongLongAndOverflow(x, &overflow)
        t.n = (write_integer(scratch, x) if overflow else write_digits(scratch, value)) - scratch
    elif PyFloat_CheckExact(x):
        t.p = scratch
        t.n = write_double(scratch, PyFloat_AS_DOUBLE(x)) - scratch
    else:
        text_of(x, t)
    return 0


# ---- what nearly all levels look like

cdef inline const char* plain_level(Cursor* c, const char* p, Text* price, Text* amount) noexcept nogil:
    """The level at p -> behind it; NULL: the odd road must look, whatever stands in price and amount."""
    if p >= c.e:
        return NULL
    if p[0] == c'[' and c.price_at >= 0:
        return plain_row(c, p, price, amount)
    if p[0] == c'{' and c.price_at < 0:
        return plain_object(c, p, price, amount)
    return NULL


cdef inline const char* plain_row(Cursor* c, const char* p, Text* price, Text* amount) noexcept nogil:
    cdef Text items[FEW]
    cdef int count = 0
    p = plain_array(p, c.e, items, &count)
    if unlikely(c.price_at >= count) or unlikely(c.amount_at >= count):
        return NULL
    price[0] = items[c.price_at]
    amount[0] = items[c.amount_at]
    if deletes(c, items[0]):
        set_zero(amount)
    return p


cdef inline const char* plain_object(Cursor* c, const char* p, Text* price, Text* amount) noexcept nogil:
    cdef Text key, value
    price.p = amount.p = NULL
    price.n = amount.n = 0
    while True:
        p = plain_member(p + 1, c.e, &key, &value)
        if unlikely(p == NULL) or unlikely(p >= c.e):
            return NULL
        if is_text(key, c.price_key):
            price[0] = value
        elif is_text(key, c.amount_key):
            amount[0] = value
        if p[0] == c'}':
            return p + 1
        if unlikely(p[0] != c','):
            return NULL


cdef inline bint deletes(Cursor* c, Text first) noexcept nogil:
    return c.delete.p != NULL and first.n >= c.delete.n and memcmp(first.p, c.delete.p, c.delete.n) == 0


cdef inline void set_zero(Text* amount) noexcept nogil:
    amount.p = b"0               "  # as long as what a writer may copy by a single move
    amount.n = 1


cdef inline bint is_text(Text a, Text b) noexcept nogil:
    return a.n == b.n and memcmp(a.p, b.p, a.n) == 0


# ---- all others

cdef inline int next_odd_level(Cursor* c, Text* price, Text* amount) except -1:
    """One with blanks, escapes, nested values or many of them."""
    price.p = amount.p = NULL
    price.n = amount.n = 0
    if c.p[0] == c'[' and c.price_at >= 0:
        return next_array(c, price, amount)
    if c.p[0] == c'{' and c.price_at < 0:
        return next_object(c, price, amount)
    raise ValueError("a level has another shape than its layout")


cdef inline int next_array(Cursor* c, Text* price, Text* amount) except -1:
    cdef Text value
    cdef int i = 0
    cdef bint deleted = 0
    cdef const char* p = blanks(c.p + 1, c.e)
    while p < c.e and p[0] != c']':
        p = scalar(p, c.e, &value)
        if i == c.price_at:
            price[0] = value
        if i == c.amount_at:
            amount[0] = value
        if i == 0:
            deleted = deletes(c, value)
        i += 1
        p = separator(p, c.e, c']')
    c.p = closed(p, c.e)
    if deleted:
        set_zero(amount)
    return 1


cdef inline int next_object(Cursor* c, Text* price, Text* amount) except -1:
    cdef Text key, value
    cdef bint escaped
    cdef const char* p = blanks(c.p + 1, c.e)
    while p < c.e and p[0] != c'}':
        p = member(p, c.e, &key, &value, &escaped)
        if is_key(key, c.price_key, escaped):
            price[0] = value
        elif is_key(key, c.amount_key, escaped):
            amount[0] = value
        p = separator(p, c.e, c'}')
    c.p = closed(p, c.e)
    return 1


cdef inline bint is_key(Text key, Text wanted, bint escaped) except -1:
    if not escaped:
        return is_text(key, wanted)
    from json import loads
    return loads(b'"%b"' % key.p[:key.n]) == wanted.p[:wanted.n].decode()
