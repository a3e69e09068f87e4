# cython: language_level=3, boundscheck=False, wraparound=False
"""Records -> JSON: each table is laid out as a list of steps, and one loop runs them. `encode.py` says the same in Python."""

import json

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.string cimport memcpy, memmove

from tardis_market._c.levels cimport Cursor, LayoutSlots, layout_slots, next_level, open_levels, put_level
from tardis_market._c.text cimport (
    NUMBER_ROOM,
    SLOT,
    Buf,
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_GET_SIZE,
    PyList_CheckExact,
    PyList_GET_ITEM,
    PyList_GET_SIZE,
    Py_None,
    Py_True,
    Py_TYPE,
    Text,
    buf_close,
    buf_open,
    put,
    put_byte,
    put_string,
    put_time,
    room,
    slot_offset,
    time_value,
    write_number,
)

from tardis_market.records import BookChange, Layout
from tardis_market.tables import TABLES, Kind

cdef enum:
    MAX_STEPS = 32
    PREFIX = 32
    MAX_TABLES = 32
    BYTES_PER_RECORD = 320  # a first guess, so that the buffer grows rarely

cdef enum:
    TEXT = 0
    NUMBER = 1
    INTEGER = 2
    TIME = 3
    FLAG = 4
    CHOICE = 5
    LEVELS = 6
    RENDERED = 7
    STRINGS = 9
assert (Kind.TEXT, Kind.CHOICE, Kind.RENDERED, Kind.STRINGS) == (TEXT, CHOICE, RENDERED, STRINGS)

cdef struct Step:
    char prefix[PREFIX]  # ,"price": and then anything: copied at its full size, which is faster than at the exact one
    Py_ssize_t prefix_size
    Py_ssize_t offset
    int kind

cdef struct Plan:
    PyObject* record
    Text start  # {"type":"trade"
    Step steps[MAX_STEPS]
    int count

cdef Plan PLANS[MAX_TABLES]
cdef int PLAN_COUNT = 0
cdef list KEEP = []  # the bytes that the plans point into
cdef LayoutSlots LAYOUT
cdef Py_ssize_t LAYOUT_OFFSET = slot_offset(BookChange.layout)
layout_slots(&LAYOUT, Layout)


cdef Text kept(str words) except *:
    cdef Text t
    raw = words.encode()
    KEEP.append(raw)
    t.p, t.n = PyBytes_AS_STRING(<PyObject*>raw), len(raw)
    return t


cdef int lay_out(table) except -1:
    global PLAN_COUNT
    cdef Plan* plan = &PLANS[PLAN_COUNT]
    cdef Step* step
    shown = [field for field in table.fields if field.key]
    if PLAN_COUNT == MAX_TABLES or len(shown) > MAX_STEPS or any(len(field.key) > PREFIX - 8 for field in shown):
        raise OverflowError("a table is too large for the encoder")
    plan.record = <PyObject*>table.record
    plan.start = kept('{"type":' + json.dumps(table.type))
    for field in shown:
        step = &plan.steps[plan.count]
        prefix = f",{json.dumps(field.key)}:".encode()
        step.prefix_size = len(prefix)
        memcpy(step.prefix, PyBytes_AS_STRING(<PyObject*>prefix), len(prefix))
        step.offset = slot_offset(getattr(table.record, field.attr))
        step.kind = field.kind
        plan.count += 1
    PLAN_COUNT += 1
    return 0


for each in TABLES:
    lay_out(each)


cdef inline Plan* plan_of(PyObject* record) except NULL:
    cdef int i
    for i in range(PLAN_COUNT):
        if PLANS[i].record == Py_TYPE(record):
            return &PLANS[i]
    raise TypeError(f"not a record: {type(<object>record).__name__}")


cdef int put_record(Buf* b, PyObject* record) except -1:
    cdef Plan* plan = plan_of(record)
    cdef Step* step
    cdef PyObject* value
    cdef int i
    put(b, plan.start.p, plan.start.n)
    for i in range(plan.count):
        step = &plan.steps[i]
        value = SLOT(record, step.offset)
        if value == NULL:
            raise AttributeError("a field of the record was deleted")
        if value == Py_None:
            continue
        memcpy(room(b, PREFIX), step.prefix, PREFIX)
        b.n += step.prefix_size
        put_field(b, step.kind, value, record)
    return put_byte(b, c'}')


cdef inline int put_field(Buf* b, int kind, PyObject* value, PyObject* record) except -1:
    if kind == NUMBER or kind == INTEGER:
        b.n = write_number(room(b, NUMBER_ROOM), value) - b.data
    elif kind == TEXT or kind == CHOICE:
        put_string(b, value)
    elif kind == TIME:
        put_time(b, time_value(value))
    elif kind == LEVELS:
        put_levels(b, value, SLOT(record, LAYOUT_OFFSET))
    elif kind == FLAG:
        if value == Py_True:
            put(b, b"true", 4)
        else:
            put(b, b"false", 5)
    elif kind == RENDERED:
        put_rendered(b, value)
    else:
        put_strings(b, value)
    return 0


cdef int put_levels(Buf* b, PyObject* levels, PyObject* layout) except -1:
    cdef Cursor c
    cdef Text price, amount
    cdef bint first = 1
    open_levels(&c, levels, layout, &LAYOUT)
    put_byte(b, c'[')
    while next_level(&c, &price, &amount):
        if not first:
            put_byte(b, c',')
        first = 0
        put_level(b, &c, price, amount)
    return put_byte(b, c']')


cdef int put_rendered(Buf* b, PyObject* rendered) except -1:
    if not PyBytes_CheckExact(rendered):
        raise TypeError("rendered levels must be bytes")
    put_byte(b, c'[')
    put(b, PyBytes_AS_STRING(rendered), PyBytes_GET_SIZE(rendered))
    return put_byte(b, c']')


cdef int put_strings(Buf* b, PyObject* strings) except -1:
    cdef Py_ssize_t i
    if not PyList_CheckExact(strings):
        raise TypeError("strings must be a list")
    put_byte(b, c'[')
    for i in range(PyList_GET_SIZE(strings)):
        if i:
            put_byte(b, c',')
        put_string(b, PyList_GET_ITEM(strings, i))
    return put_byte(b, c']')


def encode_ndjson(list records not None):
    """One JSON object and a newline per record."""
    cdef Buf b
    buf_open(&b, BYTES_PER_RECORD * (len(records) + 1))
    try:
        for record in records:
            put_record(&b, <PyObject*>record)
            put_byte(&b, c'\n')
        return PyBytes_FromStringAndSize(b.data, b.n)
    finally:
        buf_close(&b)


def encode_frames(list records not None):
    """One unmasked WebSocket text frame per record."""
    cdef Buf b
    cdef Py_ssize_t start
    buf_open(&b, BYTES_PER_RECORD * (len(records) + 1))
    try:
        for record in records:
            start = b.n
            room(&b, 4)
            b.n += 4  # the head of most messages; those of another size are moved
            put_record(&b, <PyObject*>record)
            put_head(&b, start)
        return PyBytes_FromStringAndSize(b.data, b.n)
    finally:
        buf_close(&b)


cdef int put_head(Buf* b, Py_ssize_t start) except -1:
    """The frame's head, in front of the payload that begins four bytes behind `start`."""
    cdef Py_ssize_t n = b.n - start - 4
    cdef char* head
    cdef int i
    room(b, 8)
    head = b.data + start
    head[0] = <char>0x81
    if n < 126:
        memmove(head + 2, head + 4, n)
        b.n -= 2
        head[1] = <char>n
    elif n < 65536:
        head[1] = 126
        head[2] = <char>(n >> 8)
        head[3] = <char>n
    else:
        memmove(head + 10, head + 4, n)
        b.n += 6
        head[1] = 127
        for i in range(8):
            head[2 + i] = <char>(n >> (56 - 8 * i))
    return 0
