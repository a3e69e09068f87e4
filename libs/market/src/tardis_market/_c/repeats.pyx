# cython: language_level=3, boundscheck=False, wraparound=False
"""Looks for equal local times, and compares the records of short runs, field by field. `repeats.py` says the same in Python and counts
the long runs."""

from cpython.object cimport Py_EQ, PyObject, PyObject_RichCompareBool

from tardis_market._c.text cimport SLOT, Py_TYPE, PyLong_AsLongLongAndOverflow, PyLong_CheckExact, slot_offset

from tardis_market.repeats import IDENTITY, Seen

cdef enum:
    MAX_TABLES = 32
    MAX_FIELDS = 32
    SHORT_RUN = 16

cdef struct Places:  # of one record type
    PyObject* record
    Py_ssize_t local
    Py_ssize_t identity[MAX_FIELDS]
    int count

cdef Places PLACES[MAX_TABLES]
cdef int PLACES_COUNT = 0


cdef int lay_out(record, attrs) except -1:
    global PLACES_COUNT
    cdef Places* places = &PLACES[PLACES_COUNT]
    if PLACES_COUNT == MAX_TABLES or len(attrs) > MAX_FIELDS:
        raise OverflowError("a table is too large")
    places.record = <PyObject*>record
    places.local = slot_offset(record.local_timestamp)
    for attr in attrs:
        places.identity[places.count] = slot_offset(getattr(record, attr))
        places.count += 1
    PLACES_COUNT += 1
    return 0


for each_record, each_attrs in IDENTITY.items():
    lay_out(each_record, each_attrs)


cdef inline Places* places_of(PyObject* record) except NULL:
    cdef int i
    for i in range(PLACES_COUNT):
        if PLACES[i].record == Py_TYPE(record):
            return &PLACES[i]
    raise TypeError(f"not a record: {type(<object>record).__name__}")


cdef inline bint same_time(PyObject* a, PyObject* b) except -1:
    """Records of one message share one int."""
    cdef int overflow = 0
    if a == b:
        return 1
    if PyLong_CheckExact(a) and PyLong_CheckExact(b):
        return PyLong_AsLongLongAndOverflow(a, &overflow) == PyLong_AsLongLongAndOverflow(b, &overflow)
    return <object>a == <object>b


cdef bint same_record(Places* places, PyObject* a, PyObject* b) except -1:
    cdef int i
    cdef PyObject* x
    cdef PyObject* y
    if Py_TYPE(a) != Py_TYPE(b):
        return 0
    for i in range(places.count):
        x = SLOT(a, places.identity[i])
        y = SLOT(b, places.identity[i])
        if x != y and not PyObject_RichCompareBool(<object>x, <object>y, Py_EQ):
            return 0
    return 1


cdef int count(Places* places, list run, record) except -1:
    cdef int equal = 0
    for earlier in run:
        equal += same_record(places, <PyObject*>earlier, <PyObject*>record)
    run.append(record)
    return equal


def mark_repeats(list records not None, carry):
    """See repeats.mark_repeats."""
    cdef Places* places
    cdef PyObject* local
    cdef PyObject* before = NULL
    cdef object first = None
    cdef list run
    if carry is not None:
        kept = carry.local
        before = <PyObject*>kept
    for record in records:
        places = places_of(<PyObject*>record)
        local = SLOT(<PyObject*>record, places.local)
        if before == NULL or not same_time(local, before):
            carry = None
            first = record
            before = local
            continue
        if carry is None:
            carry = Seen(first, <object>before)
        run = carry.run
        record.repeat = count(places, run, record) if len(run) < SHORT_RUN else carry.count(record)
    if carry is None and first is not None:
        carry = Seen(first, <object>before)
    return carry
