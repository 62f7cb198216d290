"""Failures of the client library as exceptions."""

from typing import Dict, NoReturn, Type


class TidemarkError(RuntimeError):
    """Something could not be done. ``code`` is the client library's (``TIDEMARK_ERROR_*`` of tidemark.h)."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class NotInitialized(TidemarkError):
    """Nothing was allocated yet, or the process does not run under the library."""


class InvalidDevice(TidemarkError):
    """There is no such device."""


class NoSuchProcess(TidemarkError, ProcessLookupError):
    """Nothing of that name publishes counters."""


class AmbiguousTarget(TidemarkError):
    """Several processes have that name; the message lists their ids."""


class AccessDenied(TidemarkError, PermissionError):
    """Another user's process, or one that refuses (``TIDEMARK_CONTROL``)."""


class SegmentError(TidemarkError):
    """A damaged segment, or one of another version."""


class ProcessGone(TidemarkError, ProcessLookupError):
    """The process has ended since it was opened, or was dead before."""


class TidemarkTimeout(TidemarkError, TimeoutError):
    """No answer in time."""


class DeferredError(TidemarkError):
    """Accepted, and done inside the program's next allocation or free."""


class DriverError(TidemarkError):
    """The driver is not there, or refused."""


INVALID_ARGUMENT = -1001
NOT_INITIALIZED = -1002
NO_SUCH_DEVICE = -1003
UNKNOWN = -1014

# tidemark.h
_CLASSES: Dict[int, Type[TidemarkError]] = {
    NOT_INITIALIZED: NotInitialized,
    NO_SUCH_DEVICE: InvalidDevice,
    -1004: NoSuchProcess,
    -1005: AmbiguousTarget,
    -1006: AccessDenied,
    -1007: SegmentError,
    -1008: SegmentError,
    -1009: ProcessGone,
    -1010: TidemarkTimeout,
    -1011: DeferredError,
    -1015: DriverError,
}


def raise_code(code: int, detail: str) -> NoReturn:
    """The exception for a code; ``ValueError`` for an argument that the library doesn't know."""
    if code == INVALID_ARGUMENT:
        raise ValueError(detail)
    raise _CLASSES.get(code, TidemarkError)(detail, code)
