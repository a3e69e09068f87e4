from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class Side(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIDE_UNSPECIFIED: _ClassVar[Side]
    SIDE_BUY: _ClassVar[Side]
    SIDE_SELL: _ClassVar[Side]

class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_UNSPECIFIED: _ClassVar[Action]
    ACTION_UPSERT: _ClassVar[Action]
    ACTION_DELETE: _ClassVar[Action]

class Origin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORIGIN_UNSPECIFIED: _ClassVar[Origin]
    ORIGIN_REALTIME: _ClassVar[Origin]
    ORIGIN_REPLAY: _ClassVar[Origin]
    ORIGIN_ARCHIVE: _ClassVar[Origin]

class BarKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BAR_KIND_UNSPECIFIED: _ClassVar[BarKind]
    BAR_KIND_TICK: _ClassVar[BarKind]
    BAR_KIND_TIME: _ClassVar[BarKind]
    BAR_KIND_VOLUME: _ClassVar[BarKind]

class OptionType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPTION_TYPE_UNSPECIFIED: _ClassVar[OptionType]
    OPTION_TYPE_CALL: _ClassVar[OptionType]
    OPTION_TYPE_PUT: _ClassVar[OptionType]

class ErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_CODE_UNSPECIFIED: _ClassVar[ErrorCode]
    ERROR_CODE_WS_CONNECT: _ClassVar[ErrorCode]
    ERROR_CODE_WS_SEND: _ClassVar[ErrorCode]
    ERROR_CODE_SOURCE_AUTH: _ClassVar[ErrorCode]
    ERROR_CODE_SOURCE_RATE_LIMIT: _ClassVar[ErrorCode]
    ERROR_CODE_HANDOFF_GAP: _ClassVar[ErrorCode]
SIDE_UNSPECIFIED: Side
SIDE_BUY: Side
SIDE_SELL: Side
ACTION_UNSPECIFIED: Action
ACTION_UPSERT: Action
ACTION_DELETE: Action
ORIGIN_UNSPECIFIED: Origin
ORIGIN_REALTIME: Origin
ORIGIN_REPLAY: Origin
ORIGIN_ARCHIVE: Origin
BAR_KIND_UNSPECIFIED: BarKind
BAR_KIND_TICK: BarKind
BAR_KIND_TIME: BarKind
BAR_KIND_VOLUME: BarKind
OPTION_TYPE_UNSPECIFIED: OptionType
OPTION_TYPE_CALL: OptionType
OPTION_TYPE_PUT: OptionType
ERROR_CODE_UNSPECIFIED: ErrorCode
ERROR_CODE_WS_CONNECT: ErrorCode
ERROR_CODE_WS_SEND: ErrorCode
ERROR_CODE_SOURCE_AUTH: ErrorCode
ERROR_CODE_SOURCE_RATE_LIMIT: ErrorCode
ERROR_CODE_HANDOFF_GAP: ErrorCode
