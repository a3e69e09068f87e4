# cython: language_level=3, boundscheck=False, wraparound=False
"""Raw lines -> records: the rules run by a scanner. `mapping.py` says the same in Python.

A line is taken here only if it is plain JSON and fits a rule in every part. If no rule takes it, or one is not sure, the plain half
looks at it again from the start; hooks run only for lines that were taken, so no line is seen twice by the mapper's state.
"""

from weakref import WeakKeyDictionary

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.string cimport memcmp

from tardis_market._c.json cimport Value, read_key, read_value, spaces
from tardis_market._c.text cimport Text, line_end, parse_local
from tardis_market._c.values cimport CHOICE, CONST, FITS, LOCAL, NEXT, UNSURE, Verdict, ascii_text, convert

from tardis_market.errors import MappingError
from tardis_market.mapping import disconnect, local_time, map_message
from tardis_market.rules import Misfit, Want

cdef extern from *:
    object PyObject_Vectorcall(object callable, PyObject** args, size_t count, PyObject* names)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    PyObject** first_item "&PyTuple_GET_ITEM"(object, Py_ssize_t)
    const char* bytes_at "PyBytes_AS_STRING"(object)
    Py_ssize_t bytes_size "PyBytes_GET_SIZE"(object)

cdef enum:
    MAX_KEYS = 32
    MAX_NODES = 16
    TIME_LENGTH = 28

assert [want.value for want in Want] == list(range(10)) and Want.EXTRA.name == "EXTRA"

cdef struct Mark:  # what a value must be
    Text text  # NULL: anything
    bint prefix

cdef struct Node:  # a name on a path from the root
    Text key
    int parent
    bint inner  # paths go on below it
    bint leaf  # its own value is wanted
    bint watched  # only to notice that it stands there twice
    Mark mark

cdef struct Source:  # of a field
    int want
    int at  # key of the row, or node
    bint root
    bint optional

cdef struct Scan:  # one message
    const char* end
    const char* rows  # where they begin, if they could not be read on the way
    int pending  # paths not yet met
    int marks  # of them with a text
    bint rows_read
    bint met[MAX_NODES]
    Value roots[MAX_NODES]
    Value row[MAX_KEYS]


cdef inline bint same(Text a, const char* p, Py_ssize_t n) noexcept nogil:
    return a.n == n and memcmp(a.p, p, n) == 0


cdef inline bint bears(Mark mark, Value v) noexcept nogil:
    if mark.text.p == NULL:
        return 1
    if v.kind == c'[' or v.kind == c'{' or v.kind == c'n':
        return 0
    if mark.prefix:
        return v.n >= mark.text.n and memcmp(v.p, mark.text.p, mark.text.n) == 0
    return same(mark.text, v.p, v.n)


cdef class Plan:
    """A rule, laid out for the scanner."""

    cdef object into, then
    cdef list keep  # the bytes that Texts point into
    cdef Node nodes[MAX_NODES]
    cdef int node_count, rows_node, leaf_count, mark_count
    cdef Text keys[MAX_KEYS]
    cdef Mark key_marks[MAX_KEYS]
    cdef int key_count
    cdef bint rows_marked
    cdef Source fields[MAX_KEYS]
    cdef Source extras[MAX_KEYS]
    cdef int field_count, extra_count, symbol_at
    cdef tuple constants, choices, others
    cdef dict symbols
    cdef str symbol

    def __init__(self, rule, exchange, earlier):
        self.into, self.then, self.symbol_at = rule.into, rule.then, rule.symbol_at
        self.keep, self.symbols, self.symbol = [], {}, ""
        self.rows_node = -1
        if rule.at:
            self.rows_node = self.node(rule.at)
        for key, text in rule.row_marks.items():
            self.key_marks[self.key(key)] = self.mark(text)
        self.rows_marked = bool(rule.row_marks)
        for path, text in rule.root_marks.items():
            self.nodes[self.node(path)].mark = self.mark(text)
            self.mark_count += 1
        self.lay_out(rule, exchange)
        self.leaf_count = sum(not self.nodes[i].inner and i != self.rows_node for i in range(self.node_count))
        for path in earlier:
            self.watch(path, f"{rule.at}." if rule.at else "")

    cdef lay_out(self, rule, exchange):
        cdef Source* source
        cdef int i
        self.field_count, self.extra_count = len(rule.takes), len(rule.extra)
        if self.field_count > MAX_KEYS or self.extra_count > MAX_KEYS:
            raise OverflowError("too many fields")
        takes = (*rule.takes, *rule.extra)
        for i in range(self.field_count + self.extra_count):
            take = takes[i]
            source = &self.fields[i] if i < self.field_count else &self.extras[i - self.field_count]
            source.want, source.root, source.optional = take.want.value, take.root, take.optional
            source.at = 0 if not take.key else self.node(take.key) if take.root else self.key(take.key)
        constants = [take.constant for take in rule.takes]
        if rule.into is not tuple:
            constants[0] = exchange
        self.constants = tuple(constants)
        self.choices = tuple([[(text.encode(), value) for text, value in take.values.items()] for take in takes])
        self.others = tuple([take.other for take in takes])

    cdef Text text(self, word) except *:
        cdef Text t
        raw = word.encode()
        self.keep.append(raw)
        t.p, t.n = bytes_at(raw), bytes_size(raw)
        return t

    cdef Mark mark(self, text) except *:
        cdef Mark mark
        mark.prefix = text.endswith("*")
        mark.text = self.text(text.removesuffix("*"))
        return mark

    cdef int key(self, name) except -1:
        cdef int i
        cdef Text text = self.text(name)
        for i in range(self.key_count):
            if same(self.keys[i], text.p, text.n):
                return i
        if self.key_count == MAX_KEYS:
            raise OverflowError("too many keys")
        self.keys[self.key_count] = text
        self.key_count += 1
        return self.key_count - 1

    cdef int node(self, path) except -1:
        cdef int i, parent = -1
        *parents, last = path.split(".")
        for name in parents:
            parent = self.child(parent, name)
            self.nodes[parent].inner = 1
            if self.nodes[parent].leaf:
                raise OverflowError("a path leads through a value")
        i = self.child(parent, last)
        self.nodes[i].leaf = 1
        if self.nodes[i].inner:
            raise OverflowError("a path leads through a value")
        return i

    cdef int watch(self, path, inside) except -1:
        """An earlier rule was decided by the first value at this path. If there is a second one, which would count, the plain half
        must look."""
        cdef int i, parent = -1
        cdef Text text
        *parents, last = path.split(".")
        if path.startswith(inside):
            if "." not in path.removeprefix(inside) and self.key_count < MAX_KEYS:
                self.key(path.removeprefix(inside))
            return 0
        for name in parents:
            text = self.text(name)
            parent = self.find(parent, text.p, text.n)
            if parent < 0 or not self.nodes[parent].inner:
                return 0
        text = self.text(last)
        if self.find(parent, text.p, text.n) < 0 and self.node_count < MAX_NODES:
            self.nodes[self.child(parent, last)].watched = 1
        return 0

    cdef int child(self, int parent, name) except -1:
        cdef int i
        cdef Text text = self.text(name)
        i = self.find(parent, text.p, text.n)
        if i >= 0:
            return i
        if self.node_count == MAX_NODES:
            raise OverflowError("too many paths")
        i = self.node_count
        self.nodes[i].key = text
        self.nodes[i].parent = parent
        self.node_count += 1
        return i

    cdef inline int find(self, int parent, const char* p, Py_ssize_t n) noexcept:
        cdef int i
        for i in range(self.node_count):
            if self.nodes[i].parent == parent and same(self.nodes[i].key, p, n):
                return i
        return -1

    # ---- reading

    cdef Verdict take(self, mapper, const char* p, const char* e, object local, list out) except? UNSURE:
        """FITS: the records of the message at p are in `out`."""
        cdef Scan s
        cdef Verdict verdict
        cdef list made = [], extra = [] if self.extra_count and self.into is not tuple else None
        s.end = e
        s.rows = NULL
        s.rows_read = 0
        s.pending, s.marks = self.leaf_count, self.mark_count
        for i in range(self.node_count):
            s.met[i] = 0
            s.roots[i].kind = 0
        p = spaces(p, e)
        if p >= e or p[0] != c'{':
            return UNSURE
        verdict = self.walk(&s, -1, &p, local, made, extra) if self.rows_node >= 0 else self.rows(&s, &p, local, made, extra)
        if verdict != FITS:
            return verdict
        if spaces(p, e) != e:
            return UNSURE
        if s.marks or (s.rows == NULL and not s.rows_read):
            return NEXT
        if not s.rows_read:
            verdict = self.rows(&s, &s.rows, local, made, extra)
            if verdict != FITS:
                return verdict
        self.finish(&s, mapper, local, made, extra, out)
        return FITS

    cdef Verdict walk(self, Scan* s, int parent, const char** at, object local, list made, list extra) except? UNSURE:
        """The object at a path: values that the rule names are kept, the rows are read at once if all they need is known."""
        cdef Value key, other
        cdef Verdict verdict
        cdef int i
        cdef const char* p = at[0]
        if p >= s.end or p[0] != c'{':
            return NEXT
        p = spaces(p + 1, s.end)
        if p < s.end and p[0] == c'}':
            at[0] = p + 1
            return FITS
        while True:
            p = read_key(p, s.end, &key)
            if p == NULL:
                return UNSURE
            i = self.find(parent, key.p, key.n)
            if i >= 0 and s.met[i]:
                return UNSURE
            if i >= 0:
                s.met[i] = 1
            if i < 0:
                p = read_value(p, s.end, &other)
            elif self.nodes[i].inner:
                verdict = self.walk(s, i, &p, local, made, extra)
                if verdict != FITS:
                    return verdict
            elif i == self.rows_node and s.pending == 0:
                verdict = self.rows(s, &p, local, made, extra)
                if verdict != FITS:
                    return verdict
            elif i == self.rows_node:
                s.rows = p
                p = read_value(p, s.end, &other)
            else:
                p = read_value(p, s.end, &s.roots[i])
                if p != NULL and not bears(self.nodes[i].mark, s.roots[i]):
                    return NEXT
                s.pending -= not self.nodes[i].watched
                s.marks -= self.nodes[i].mark.text.p != NULL
            if p == NULL:
                return UNSURE
            p = spaces(p, s.end)
            if p >= s.end or (p[0] != c',' and p[0] != c'}'):
                return UNSURE
            if p[0] == c'}':
                at[0] = p + 1
                return FITS
            p = spaces(p + 1, s.end)

    cdef Verdict rows(self, Scan* s, const char** at, object local, list made, list extra) except? UNSURE:
        """The row, or list of rows, at a place."""
        cdef const char* p = at[0]
        cdef Verdict verdict
        cdef bint many = p < s.end and p[0] == c'['
        s.rows_read = 1
        if many:
            if self.rows_marked:
                return NEXT
            p = spaces(p + 1, s.end)
            if p < s.end and p[0] == c']':
                at[0] = p + 1
                return FITS
        while True:
            if p >= s.end or p[0] != c'{':
                return UNSURE if many else NEXT
            verdict = self.row(s, &p)
            if verdict == FITS:
                verdict = self.build(s, local, made, extra)
            if verdict != FITS:
                return verdict
            if not many:
                break
            p = spaces(p, s.end)
            if p >= s.end or (p[0] != c',' and p[0] != c']'):
                return UNSURE
            if p[0] == c']':
                p += 1
                break
            p = spaces(p + 1, s.end)
        at[0] = p
        return FITS

    cdef Verdict row(self, Scan* s, const char** at) noexcept:
        """The object at a place -> s.row by key."""
        cdef Value key, value
        cdef int i, k, hint = 0
        cdef const char* p = spaces(at[0] + 1, s.end)
        for i in range(self.key_count):
            s.row[i].kind = 0
        if p < s.end and p[0] == c'}':
            at[0] = p + 1
            return self.marked(s)
        while True:
            p = read_key(p, s.end, &key)
            if p == NULL:
                return UNSURE
            p = read_value(p, s.end, &value)
            if p == NULL:
                return UNSURE
            k = hint
            for i in range(self.key_count):  # keys come in the same order every time: the next one first
                if same(self.keys[k], key.p, key.n):
                    if s.row[k].kind:
                        return UNSURE
                    if not bears(self.key_marks[k], value):
                        return NEXT
                    s.row[k] = value
                    hint = k + 1 if k + 1 < self.key_count else 0
                    break
                k = k + 1 if k + 1 < self.key_count else 0
            p = spaces(p, s.end)
            if p >= s.end or (p[0] != c',' and p[0] != c'}'):
                return UNSURE
            if p[0] == c'}':
                at[0] = p + 1
                return self.marked(s)
            p = spaces(p + 1, s.end)

    cdef Verdict marked(self, Scan* s) noexcept:
        """Every mark was met: the keys that bear one must be there."""
        cdef int i
        for i in range(self.key_count):
            if self.key_marks[i].text.p != NULL and s.row[i].kind == 0:
                return NEXT
        return FITS

    # ---- making

    cdef Verdict build(self, Scan* s, object local, list made, list extra) except? UNSURE:
        """The row as tuple of a record's fields; the tuple owns what was made so far if one does not fit."""
        cdef Verdict verdict = FITS
        cdef int i
        cdef tuple values = PyTuple_New(self.field_count)
        for i in range(self.field_count):
            value = self.read(s, &self.fields[i], i, local, &verdict)
            if verdict != FITS:
                return verdict
            Py_INCREF(value)
            PyTuple_SET_ITEM(values, i, value)
        if extra is not None:
            more = self.more(s, local, &verdict)
            if verdict != FITS:
                return verdict
            extra.append(more)
        if self.into is not tuple:
            made.append(PyObject_Vectorcall(self.into, first_item(values, 0), self.field_count, NULL))
        else:
            made.append(values)
        return FITS

    cdef list more(self, Scan* s, object local, Verdict* verdict):
        cdef list values = []
        cdef int i
        for i in range(self.extra_count):
            values.append(self.read(s, &self.extras[i], self.field_count + i, local, verdict))
        return values

    cdef finish(self, Scan* s, mapper, object local, list made, list extra, list out):
        cdef Verdict verdict = FITS
        if self.then is None:
            out.extend(made)
        elif self.into is tuple:
            out.extend(self.then(mapper, made, local, *self.more(s, local, &verdict)) if self.extra_count
                       else self.then(mapper, made, local))
        else:
            for i in range(len(made)):
                record = self.then(mapper, made[i], *extra[i]) if extra is not None else self.then(mapper, made[i])
                if record is not None:
                    out.append(record)

    cdef inline object read(self, Scan* s, Source* source, int i, object local, Verdict* verdict):
        cdef Value v
        if source.want == CONST:
            return self.constants[i]
        if source.want == LOCAL:
            return local
        v = s.roots[source.at] if source.root else s.row[source.at]
        if source.want == CHOICE:
            return self.choose(i, v, verdict)
        if v.kind == 0 or v.kind == c'n':
            if not source.optional:
                verdict[0] = NEXT
            return None
        if i == self.symbol_at and v.kind == c'"':
            return self.known_symbol(v)
        return convert(source.want, v, verdict)

    cdef object choose(self, int i, Value v, Verdict* verdict):
        if v.kind == c'[' or v.kind == c'{':
            verdict[0] = NEXT
            return None
        if v.kind != 0 and v.kind != c'n':
            for text, value in <list>self.choices[i]:
                if bytes_size(text) == v.n and memcmp(bytes_at(text), v.p, v.n) == 0:
                    return value
        if self.others[i] is Misfit:
            verdict[0] = NEXT
        return self.others[i]

    cdef inline object known_symbol(self, Value v):
        """One str per symbol: most rows name the symbol of the row before."""
        if PyUnicode_GET_LENGTH(self.symbol) != v.n or memcmp(PyUnicode_DATA(self.symbol), v.p, v.n) != 0:
            text = ascii_text(v.p, v.n)
            self.symbol = self.symbols.setdefault(text, text)
        return self.symbol


# ---- lines

PLANS = WeakKeyDictionary()  # mapper -> [Plan]


cdef list plans_of(mapper):
    plans = PLANS.get(mapper)
    if plans is None:
        try:
            plans, earlier = [], []
            for rule in mapper.rules:
                plans.append(Plan(rule, mapper.exchange, earlier))
                earlier.extend(rule.paths)
        except OverflowError:  # a rule that is too large for the scanner: all of them run in the plain half, in their order
            plans = []
        PLANS[mapper] = plans
    return plans


cdef bint scanned(list plans, mapper, const char* p, const char* e, object local, list out) except -1:
    cdef Plan plan
    cdef Verdict verdict
    for plan in plans:
        verdict = plan.take(mapper, p, e, local, out)
        if verdict != NEXT:
            return verdict == FITS
    return 0


def map_block(mapper, bytes block not None, list out not None, last):
    """See mapping.map_block."""
    cdef const char* p = bytes_at(block)
    cdef const char* e = p + bytes_size(block)
    cdef const char* q
    cdef list plans = plans_of(mapper)
    cdef bint down = mapper.disconnected
    cdef long long ticks
    cdef int odd = 0
    while p < e:
        q = line_end(p, e, &odd)
        if q == p:
            disconnect(mapper, out, last)
            down = 1
        else:
            if down:
                mapper.disconnected = False
                down = 0
            ticks = parse_local(p) if q - p > TIME_LENGTH and p[TIME_LENGTH] == c' ' else -1
            last = ticks if ticks >= 0 else local_time(mapper.exchange, p[:q - p])
            try:
                done = not odd and scanned(plans, mapper, p + TIME_LENGTH + 1, q, last, out)
            except Exception as error:
                raise MappingError(mapper.exchange, last, f"{type(error).__name__}: {error}", p[:q - p]) from error
            if not done:
                out.extend(map_message(mapper, p[:q - p], last))
        p = q + 1
    return last
