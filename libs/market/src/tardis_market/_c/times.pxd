# cython: language_level=3
"""Times whose size tells the unit; `times.py` says the same in Python."""

from cpython.object cimport PyObject
from libc.string cimport memcmp, memcpy

from tardis_market._c.buffer cimport Buf, PyLong_AsLongLongAndOverflow, PyLong_CheckExact, room

cdef enum:
    TIME_ROOM = 32  # with its quotes a time has at most 29 characters

cdef extern from *:
    """
    #define MICROSECONDS_FROM 100000000000000LL  /* 10**14; times.py tells the rule */
    #define TICKS_FROM 10000000000000000LL       /* 10**16; a tick is 100 ns */
    #define EARLIEST -62135596800000LL           /* 0001-01-01 in milliseconds */
    #define LATEST 2534023008000000000LL         /* 10000-01-01 in ticks */
    """
    long long MICROSECONDS_FROM, TICKS_FROM, EARLIEST, LATEST


cdef inline long long time_value(PyObject* x) except? -1:
    """A record's time as a C integer."""
    cdef int overflow = 0
    cdef long long t
    if not PyLong_CheckExact(x):
        raise TypeError("a time must be an int")
    t = PyLong_AsLongLongAndOverflow(x, &overflow)
    if overflow or t < EARLIEST or t >= LATEST:
        raise ValueError("time out of range")
    return t


cdef inline long long time_ticks(long long t) noexcept nogil:
    """Units of 100 ns, whatever unit t has."""
    return t * 10000 if t < MICROSECONDS_FROM else t * 10 if t < TICKS_FROM else t


cdef inline void time_parts(long long t, long long* seconds, int* nanos) noexcept nogil:
    """What google.protobuf.Timestamp holds: whole seconds (rounded down) and the nanoseconds above them."""
    cdef long long ticks = time_ticks(t)
    seconds[0] = ticks // 10000000
    nanos[0] = <int>(ticks - seconds[0] * 10000000) * 100
    if nanos[0] < 0:
        seconds[0] -= 1
        nanos[0] += 1000000000


cdef inline void two(char* o, int value) noexcept nogil:
    o[0] = <char>(48 + value // 10)
    o[1] = <char>(48 + value % 10)


cdef inline void write_date(char* o, long long day) noexcept nogil:
    """yyyy-mm-dd of a day since 1970, by the usual eras of 400 years that begin in March."""
    cdef long long shifted = day + 719468
    cdef long long era = shifted // 146097
    cdef int of_era = <int>(shifted - era * 146097)
    cdef int year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    cdef int of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    cdef int month = (5 * of_year + 2) // 153
    cdef int year = <int>(year_of_era + era * 400) + (month >= 10)
    two(o, year // 100)
    two(o + 2, year % 100)
    o[4] = c'-'
    two(o + 5, month + 3 if month < 10 else month - 9)
    o[7] = c'-'
    two(o + 8, of_year - (153 * month + 2) // 5 + 1)


cdef inline void write_moment(char* o, long long seconds) noexcept nogil:
    """2020-02-01T00:00:00. of a second since 1970"""
    cdef long long day = seconds // 86400
    cdef int second = <int>(seconds - day * 86400)
    if second < 0:
        day -= 1
        second += 86400
    write_date(o, day)
    o[10] = c'T'
    two(o + 11, second // 3600)
    o[13] = c':'
    two(o + 14, second % 3600 // 60)
    o[16] = c':'
    two(o + 17, second % 60)
    o[19] = c'.'


cdef inline int put_time(Buf* b, long long t) except -1:
    """"2020-02-01T00:00:00.123Z" with its quotes; six decimals (cut, not rounded) if t is finer than milliseconds."""
    cdef long long seconds
    cdef int nanos, micros
    cdef char* o = room(b, TIME_ROOM)
    time_parts(t, &seconds, &nanos)
    if seconds != b.second:
        write_moment(b.moment, seconds)
        b.second = seconds
    micros = nanos // 1000
    o[0] = c'"'
    memcpy(o + 1, b.moment, 20)
    two(o + 21, micros // 10000)
    two(o + 23, micros // 100 % 100)
    o += 24
    if t >= MICROSECONDS_FROM:
        two(o + 1, micros % 100)
        o += 3
    o[0] = c'Z'
    o[1] = c'"'
    b.n = o + 2 - b.data
    return 0


cdef inline int number_of(const char* s, int n) noexcept nogil:
    """The value of n digits; -1 if one of them is no digit."""
    cdef int i, value = 0
    for i in range(n):
        if s[i] < c'0' or s[i] > c'9':
            return -1
        value = value * 10 + s[i] - 48
    return value


cdef inline long long days_since_1970(int year, int month, int day) noexcept nogil:
    """-1 if there is no such day; nothing before 1970 is asked for."""
    cdef int of_year, of_era, era
    cdef int length = 30 + ((month + (month > 7)) & 1)
    if month == 2:
        length = 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    if year < 1970 or month < 1 or month > 12 or day < 1 or day > length:
        return -1
    if month <= 2:
        year -= 1
    era = year // 400
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    of_era = (year - era * 400) * 365 + (year - era * 400) // 4 - (year - era * 400) // 100 + of_year
    return <long long>era * 146097 + of_era - 719468


cdef inline long long iso_seconds(const char* s) noexcept nogil:
    """The 19 characters 2020-02-01T00:00:00 -> seconds since 1970; -1 if they are anything else."""
    cdef int hour = number_of(s + 11, 2), minute = number_of(s + 14, 2), second = number_of(s + 17, 2)
    cdef long long day
    if s[4] != c'-' or s[7] != c'-' or s[10] != c'T' or s[13] != c':' or s[16] != c':':
        return -1
    day = days_since_1970(number_of(s, 4), number_of(s + 5, 2), number_of(s + 8, 2))
    if day < 0 or hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return -1
    return day * 86400 + hour * 3600 + minute * 60 + second


cdef inline long long parse_iso(const char* s, Py_ssize_t n) noexcept nogil:
    """2020-02-01T00:00:00[.digits] and Z or +00:00 -> milliseconds, or microseconds with more than three decimals; -1: not written
    like this."""
    cdef long long seconds, fraction = 0
    cdef Py_ssize_t i = 20
    cdef int decimals = 0
    if n > 25 and memcmp(s + n - 6, b"+00:00", 6) == 0:
        n -= 5
    elif n < 20 or s[n - 1] != c'Z':
        return -1
    if n > 20 and (s[19] != c'.' or n == 21):
        return -1
    seconds = iso_seconds(s)
    if seconds < 0:
        return -1
    while i < n - 1:
        if s[i] < c'0' or s[i] > c'9':
            return -1
        if decimals < 6:
            fraction = fraction * 10 + s[i] - 48
            decimals += 1
        i += 1
    i = decimals
    while i < 6:
        fraction *= 10
        i += 1
    fraction += seconds * 1000000
    return fraction if decimals > 3 and fraction >= MICROSECONDS_FROM else fraction // 1000


cdef inline long long parse_local(const char* s) noexcept nogil:
    """The 28 characters 2020-02-01T00:00:00.0002024Z -> units of 100 ns; -1 if they are anything else."""
    cdef long long seconds = iso_seconds(s)
    cdef int fraction = number_of(s + 20, 7)
    cdef long long ticks = seconds * 10000000 + fraction
    if seconds < 0 or fraction < 0 or s[19] != c'.' or s[27] != c'Z' or ticks < TICKS_FROM:
        return -1
    return ticks
