import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from lakehouse.bronze.v1 import enums_pb2 as _enums_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ControlError(_message.Message):
    __slots__ = ("details", "subsequent_errors", "code", "gap_from_ts", "gap_to_ts", "gap_count")
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    SUBSEQUENT_ERRORS_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    GAP_FROM_TS_FIELD_NUMBER: _ClassVar[int]
    GAP_TO_TS_FIELD_NUMBER: _ClassVar[int]
    GAP_COUNT_FIELD_NUMBER: _ClassVar[int]
    details: str
    subsequent_errors: int
    code: _enums_pb2.ErrorCode
    gap_from_ts: _timestamp_pb2.Timestamp
    gap_to_ts: _timestamp_pb2.Timestamp
    gap_count: int
    def __init__(self, details: _Optional[str] = ..., subsequent_errors: _Optional[int] = ..., code: _Optional[_Union[_enums_pb2.ErrorCode, str]] = ..., gap_from_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., gap_to_ts: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., gap_count: _Optional[int] = ...) -> None: ...

class ControlDisconnect(_message.Message):
    __slots__ = ("reason", "close_code")
    REASON_FIELD_NUMBER: _ClassVar[int]
    CLOSE_CODE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    close_code: int
    def __init__(self, reason: _Optional[str] = ..., close_code: _Optional[int] = ...) -> None: ...
