# cython: language_level=3
"""Walks the levels of a book change, in whatever form the mapper left them: the exchange's own JSON list with its Layout, or a list
of (price, amount). Each step yields the two as text, every digit kept; `Text.p == NULL` where the level has no such value.

The JSON was checked when the message was read. Other bytes may raise or yield odd text, but nothing outside them is ever read.
"""

from cpython.object cimport PyObject
from libc.string cimport memchr, memcmp, memcpy

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
    PyUnicode_AsUTF8AndSize,
    Py_None,
    Text,
    quote_end,
    room,
    slot_offset,
    text_of,
    write_decimal,
    write_digits,
    write_double,
    write_integer,
)

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
    else:
        c.price_key.p = PyUnicode_AsUTF8AndSize(price, &c.price_key.n)
        c.amount_key.p = PyUnicode_AsUTF8AndSize(SLOT(layout, slots.amount), &c.amount_key.n)
    if delete != Py_None:
        c.delete.p = PyUnicode_AsUTF8AndSize(delete, &c.delete.n)
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
    price.p = amount.p = NULL
    price.n = amount.n = 0
    if c.items != NULL:
        return next_pair(c, price, amount)
    c.p = blanks(c.p, c.e)
    if c.p < c.e and c.p[0] == c',' and c.i:
        c.p = blanks(c.p + 1, c.e)
    if c.p >= c.e or c.p[0] == c']':
        return 0
    c.i += 1
    if c.p[0] == c'[' and c.price_at >= 0:
        return next_array(c, price, amount)
    if c.p[0] == c'{' and c.price_at < 0:
        return next_object(c, price, amount)
    raise ValueError("a level has another shape than its layout")


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
        if i == 0 and c.delete.p != NULL and value.n >= c.delete.n and memcmp(value.p, c.delete.p, c.delete.n) == 0:
            deleted = 1
        i += 1
        p = separator(p, c.e, c']')
    c.p = closed(p, c.e)
    if deleted:
        amount.p = b"0"
        amount.n = 1
    return 1


cdef inline int next_object(Cursor* c, Text* price, Text* amount) except -1:
    cdef Text key, value
    cdef const char* p = blanks(c.p + 1, c.e)
    while p < c.e and p[0] != c'}':
        p = blanks(scalar(p, c.e, &key), c.e)
        if p >= c.e or p[0] != c':':
            raise ValueError("a level is no JSON object")
        p = scalar(blanks(p + 1, c.e), c.e, &value)
        if is_key(key, c.price_key):
            price[0] = value
        elif is_key(key, c.amount_key):
            amount[0] = value
        p = separator(p, c.e, c'}')
    c.p = closed(p, c.e)
    return 1


cdef inline bint is_key(Text key, Text wanted) except -1:
    if key.n == wanted.n and memcmp(key.p, wanted.p, key.n) == 0:
        return 1
    if memchr(key.p, c'\\', key.n) == NULL:
        return 0
    from json import loads
    return loads(b'"%b"' % key.p[:key.n]) == wanted.p[:wanted.n].decode()


cdef inline const char* blanks(const char* p, const char* e) noexcept nogil:
    while p < e and (p[0] == c' ' or p[0] == c'\n' or p[0] == c'\r' or p[0] == c'\t'):
        p += 1
    return p


cdef inline const char* separator(const char* p, const char* e, char end) except NULL:
    """Behind the comma, or at the end mark."""
    p = blanks(p, e)
    if p < e and p[0] == end:
        return p
    if p >= e or p[0] != c',':
        raise ValueError("a level is cut off")
    return blanks(p + 1, e)


cdef inline const char* closed(const char* p, const char* e) except NULL:
    if p >= e:
        raise ValueError("a level is cut off")
    return p + 1


cdef inline const char* scalar(const char* p, const char* e, Text* t) except NULL:
    """The value at p -> t, without the quotes of a string, and the place behind it. A nested list or object counts as one value."""
    cdef int depth = 0
    t.p = p
    if p < e and p[0] == c'"':
        t.p = p + 1
        p = string_end(p, e)
        t.n = p - 1 - t.p
        return p
    while p < e:
        if p[0] == c'"':
            p = string_end(p, e)
            continue
        if p[0] == c'[' or p[0] == c'{':
            depth += 1
        elif p[0] == c']' or p[0] == c'}':
            depth -= 1
        if depth < 0 or (depth == 0 and (p[0] == c',' or p[0] == c':' or p[0] <= 32)):
            break
        p += 1
    t.n = p - t.p
    if t.n == 0:
        raise ValueError("a level has an empty place")
    return p


cdef inline const char* string_end(const char* p, const char* e) except NULL:
    """Behind the quote that closes the string at p."""
    p = quote_end(p + 1, e)
    while p < e and p[0] == c'\\':
        p = quote_end(p + 2, e) if e - p > 2 else e
    if p >= e:
        raise ValueError("a string in a level is cut off")
    return p + 1
