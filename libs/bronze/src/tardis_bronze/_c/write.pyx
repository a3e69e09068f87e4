# cython: language_level=3, cdivision=True
"""Records to Bronze events. The same as stream.py; the parts that events share come from envelope.py, once each."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from tardis_bronze._c.payload cimport CHOICE, FLAG, INTEGER, LEVELS, NUMBER, RENDERED, TEXT, TIME, TOP, Kind, Level, Step, put_step, slot
from tardis_bronze._c.proto cimport STAMP_ROOM, TAG_ROOM, VARINT_ROOM, Tag, varint_size, write_bytes, write_stamp, write_tag, write_varint
from tardis_market._c.levels cimport layout_slots
from tardis_market._c.text cimport (
    Buf, PyBytes_AS_STRING, PyBytes_GET_SIZE, PyLong_AsLongLongAndOverflow, Py_None, buf_close, buf_open, put,
    room, slot_offset, time_parts, time_ticks, time_value,
)

from tardis_bronze.envelope import Envelope, LaneEvents
from tardis_bronze.identity import id_prefix
from tardis_bronze.plan import PLANS
from tardis_bronze.wire import BYTES, bytes_field, tag, timestamp
from tardis_market import records, tables
from xxhash import xxh3_128_digest

KINDS = {
    "TEXT": TEXT, "NUMBER": NUMBER, "INTEGER": INTEGER, "TIME": TIME, "FLAG": FLAG, "CHOICE": CHOICE, "LEVELS": LEVELS,
    "RENDERED": RENDERED, "TOP": TOP,
}
assert all(tables.Kind[name] == number for name, number in KINDS.items())
assert {step.kind.name for plan in PLANS.values() for step in plan.steps} <= KINDS.keys()

cdef enum:
    CASES = 16  # room for the payload cases; checked where they are counted
    FIRST_BLOCK = 1 << 14


# ---- what is known of each payload case

cdef Tag tag_of(bytes data):
    cdef Tag made
    memset(made.data, 0, TAG_ROOM)
    made.n = <int>len(data)
    memcpy(made.data, <const char*>data, len(data))
    return made


cdef class _Plan:
    cdef object plan
    cdef Step* steps
    cdef Py_ssize_t count, exchange, symbol, layout, name, own_id, local, repeat, snapshot
    cdef int index
    cdef bint all_identity
    cdef Tag case_tag

    def __cinit__(self, plan, int index):
        cdef Py_ssize_t i
        self.steps = <Step*>calloc(len(plan.steps) + 1, sizeof(Step))
        if self.steps == NULL:
            raise MemoryError()
        self.plan = plan
        self.index = index
        self.count = len(plan.steps)
        self.all_identity = all(step.identity for step in plan.steps)
        self.case_tag = tag_of(tag(plan.table.case, BYTES))
        self.exchange = self.offset("exchange")
        self.symbol = self.offset("symbol")
        self.local = self.offset("local_timestamp")
        self.repeat = self.offset("repeat")
        self.layout = self.offset("layout")
        self.name = self.offset("name")
        self.own_id = self.offset("id")
        self.snapshot = self.offset("is_snapshot")
        for i, step in enumerate(plan.steps):
            self.steps[i].kind = <Kind><int>step.kind
            self.steps[i].slot = self.offset(step.attr)
            self.steps[i].tag = tag_of(step.tag)
            self.steps[i].second = tag_of(tag(step.number + 1, BYTES))
            self.steps[i].identity = step.identity
            self.steps[i].largest = step.largest
            self.steps[i].choices = <PyObject*>step.choices

    def __dealloc__(self):
        free(self.steps)

    cdef Py_ssize_t offset(self, str attr) except -2:
        """-1: the record has no such field."""
        found = getattr(self.plan.table.record, attr, None)
        return -1 if found is None else slot_offset(found)


cdef Level LEVEL
LEVEL.price = tag_of(tag(1, BYTES))
LEVEL.amount = tag_of(tag(2, BYTES))
layout_slots(&LEVEL.layout, records.Layout)

cdef dict BY_CASE = {case: _Plan(plan, index) for index, (case, plan) in enumerate(PLANS.items())}
cdef dict BY_TYPE = {table.record: BY_CASE[table.case] for table in tables.TABLES if table.record is not records.BookSnapshot}
assert len(BY_CASE) <= CASES


cdef _Plan plan_for(record):
    found = BY_TYPE.get(type(record))
    return found if found is not None else BY_CASE[tables.payload_table(record).case]


# ---- what events share

cdef class _Variant:
    """Events of one series and payload case that have the same meta: by name, or by being a snapshot."""
    cdef bytes meta  # with the origin before it
    cdef bytes prefix  # of the event id


cdef class _Series:
    cdef bytes head
    cdef int lane
    cdef unsigned long long seq
    cdef list variants  # by index of the plan: variant -> _Variant


cdef struct Work:  # what one call of encode owns
    Buf* lanes
    Py_ssize_t* counts
    PyObject** begun
    Py_ssize_t done
    Buf body
    Buf hashed


cdef class BronzeStream:
    """See tardis_bronze.stream.BronzeStream. One call of `encode` at a time."""
    cdef object envelope
    cdef int lanes
    cdef bint live
    cdef bytes stream
    cdef dict by_exchange  # exchange -> symbol -> _Series

    def __init__(self, *, source, origin, stream_id, meta, lanes=8):
        self.envelope = Envelope(source=source, origin=origin, stream_id=stream_id, meta=meta, lanes=lanes)
        self.lanes = lanes
        self.live = self.envelope.live
        self.stream = self.envelope.stream
        self.by_exchange = {}

    def encode(self, list records not None, ingest_ns):
        cdef Work work
        cdef Py_ssize_t i
        cdef bytes ingest = bytes_field(5, timestamp(ingest_ns))
        open_work(&work, self.lanes, len(records))
        try:
            for i in range(len(records)):
                self.put_event(&work, records[i], ingest)
            return [
                LaneEvents(i, work.counts[i], PyBytes_FromStringAndSize(work.lanes[i].data, work.lanes[i].n))
                for i in range(self.lanes) if work.counts[i]
            ]
        except BaseException:
            for i in range(work.done):
                (<_Series>work.begun[i]).seq -= 1
            raise
        finally:
            close_work(&work, self.lanes)

    cdef _Series series_of(self, exchange, symbol):
        symbols = self.by_exchange.get(exchange)
        if symbols is None:
            symbols = self.by_exchange[exchange] = {}
        found = (<dict>symbols).get("" if symbol is None else symbol)
        return found if found is not None else self.new_series(<dict>symbols, exchange, symbol)

    cdef _Series new_series(self, dict symbols, exchange, symbol):
        cdef _Series made = _Series()
        made.head = self.envelope.head(exchange, symbol)
        made.lane = self.envelope.lane(exchange, symbol)
        made.seq = 0
        made.variants = [{} for _ in range(CASES)]
        symbols[symbol or ""] = made
        return made

    cdef _Variant variant_of(self, _Series series, _Plan plan, record):
        cdef PyObject* key = Py_None
        cdef dict known = <dict>series.variants[plan.index]
        if plan.name >= 0:
            key = slot(<PyObject*>record, plan.name)
        elif plan.snapshot >= 0:
            key = slot(<PyObject*>record, plan.snapshot)
        found = known.get(<object>key)
        return found if found is not None else self.new_variant(known, <object>key, plan, record)

    cdef _Variant new_variant(self, dict known, key, _Plan plan, record):
        cdef _Variant made = _Variant()
        name = record.name if plan.name >= 0 else ""
        made.meta = self.envelope.origin + self.envelope.meta(plan.plan, record)
        made.prefix = id_prefix(record.exchange, record.symbol, plan.plan.table.case, name)
        if type(record) is not records.Disconnect:  # those have meta of their own
            known[key] = made
        return made

    cdef int put_event(self, Work* work, record, bytes ingest) except -1:
        cdef PyObject* r = <PyObject*>record
        cdef _Plan plan = plan_for(record)
        cdef _Series series = self.series_of(<object>slot(r, plan.exchange), <object>slot(r, plan.symbol))
        cdef _Variant variant = self.variant_of(series, plan, record)
        cdef long long local = time_value(slot(r, plan.local))
        cdef Buf* out = &work.lanes[series.lane]
        cdef bytes digest
        cdef char stamp[STAMP_ROOM]
        cdef Py_ssize_t stamp_size, size
        cdef long long seconds
        cdef int nanos
        cdef char* o
        put_payload(work, plan, r)
        digest = event_id(work, plan, variant, r, 0 if self.is_timeless(plan, r) else time_ticks(local))
        time_parts(local, &seconds, &nanos)
        stamp_size = write_stamp(stamp, seconds, nanos) - stamp
        series.seq += 1
        work.begun[work.done] = <PyObject*>series
        work.done += 1
        size = (
            len(series.head) + 1 + stamp_size + len(ingest) + len(variant.meta) + 18 + len(self.stream)
            + 1 + varint_size(series.seq) + plan.case_tag.n + varint_size(work.body.n) + work.body.n
        )
        o = write_varint(room(out, size + VARINT_ROOM + TAG_ROOM), size)
        o = write_object(o, series.head)
        o[0] = 0x22
        o = write_bytes(o + 1, stamp, stamp_size)
        o = write_object(write_object(o, ingest), variant.meta)
        o[0] = 0x5A
        o[1] = 16
        o = write_object(write_object(o + 2, digest), self.stream)
        o[0] = 0x68
        o = write_varint(o + 1, series.seq)
        o = write_varint(write_tag(o, &plan.case_tag), work.body.n)
        out.n = write_bytes(o, work.body.data, work.body.n) - out.data
        work.counts[series.lane] += 1
        return 0

    cdef bint is_timeless(self, _Plan plan, PyObject* r) except -1:
        return self.live and plan.own_id >= 0 and slot(r, plan.own_id) != Py_None


cdef inline char* write_object(char* o, bytes data) noexcept:
    return write_bytes(o, PyBytes_AS_STRING(<PyObject*>data), PyBytes_GET_SIZE(<PyObject*>data))


cdef int put_payload(Work* work, _Plan plan, PyObject* r) except -1:
    """The payload to `body`; its identity fields to `hashed`, unless they are all there is."""
    cdef Py_ssize_t i, start
    work.body.n = 0
    work.hashed.n = 0
    for i in range(plan.count):
        start = work.body.n
        put_step(&work.body, &plan.steps[i], r, plan.layout, &LEVEL)
        if not plan.all_identity and plan.steps[i].identity:
            put(&work.hashed, work.body.data + start, work.body.n - start)
    return 0


cdef bytes event_id(Work* work, _Plan plan, _Variant variant, PyObject* r, long long ticks):
    """The layout of identity.id_input."""
    cdef Buf* fields = &work.body if plan.all_identity else &work.hashed
    cdef int overflow = 0
    cdef long long repeat = PyLong_AsLongLongAndOverflow(slot(r, plan.repeat), &overflow)
    cdef Py_ssize_t prefix = PyBytes_GET_SIZE(<PyObject*>variant.prefix)
    cdef bytes data = PyBytes_FromStringAndSize(NULL, prefix + 12 + fields.n)
    cdef char* o = write_object(PyBytes_AS_STRING(<PyObject*>data), variant.prefix)
    if overflow or not 0 <= repeat < 1LL << 32:
        raise OverflowError("repeat does not fit in four bytes")
    o = write_bytes(write_little(o, <unsigned long long>ticks, 8), fields.data, fields.n)
    write_little(o, <unsigned long long>repeat, 4)
    return xxh3_128_digest(data)


cdef inline char* write_little(char* o, unsigned long long value, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        o[i] = <char>(value >> (8 * i))
    return o + n


cdef int open_work(Work* work, int lanes, Py_ssize_t records) except -1:
    work.done = 0
    work.body.data = work.hashed.data = NULL
    work.lanes = <Buf*>calloc(lanes, sizeof(Buf))
    work.counts = <Py_ssize_t*>calloc(lanes, sizeof(Py_ssize_t))
    work.begun = <PyObject**>calloc(records + 1, sizeof(PyObject*))
    try:
        if work.lanes == NULL or work.counts == NULL or work.begun == NULL:
            raise MemoryError()
        buf_open(&work.body, FIRST_BLOCK)
        buf_open(&work.hashed, FIRST_BLOCK)
    except MemoryError:
        close_work(work, lanes)
        raise
    return 0


cdef void close_work(Work* work, int lanes) noexcept:
    cdef int i
    if work.lanes != NULL:
        for i in range(lanes):
            buf_close(&work.lanes[i])
    buf_close(&work.body)
    buf_close(&work.hashed)
    free(work.lanes)
    free(work.counts)
    free(work.begun)
