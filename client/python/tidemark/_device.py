"""Forms in which a device is named, as PyTorch's."""

from typing import Any, Optional, Union

Device = Union["device", int, str, None, Any]


class device:
    """A device by type and index: ``device("mtia:1")``, ``device("mtia", 1)``, ``device("mtia")`` for the current one.

    Stands for ``torch.device``, which is understood as well wherever a device is named.
    """

    __slots__ = ("index", "type")

    def __init__(self, type: Union[str, "device"], index: Optional[int] = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        name, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        if name not in ("cpu", "cuda", "mtia"):
            raise RuntimeError(f"Expected one of cpu, cuda, mtia device type at start of device string: {type}")
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative, got {index}")
        self.type: str = name
        self.index: Optional[int] = index

    def __repr__(self) -> str:
        return f"device(type={self.type!r}" + (")" if self.index is None else f", index={self.index})")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


def index_of(wanted: Device, backend: str) -> Optional[int]:
    """The index that ``wanted`` means on ``backend``; None: the current device.

    An int (and a bool) is taken as it is, as PyTorch does. Raises ``ValueError`` for another type of device.
    """
    if wanted is None:
        return None
    if isinstance(wanted, int):
        return int(wanted)
    if isinstance(wanted, str):
        wanted = device(wanted)
    if hasattr(wanted, "idx"):  # torch.mtia.device(1), tidemark.cuda.device(1)
        return int(wanted.idx)
    if hasattr(wanted, "type") and hasattr(wanted, "index"):
        if wanted.type != backend:
            raise ValueError(f"Expected a {backend} device, but got: {wanted}")
        return None if wanted.index is None else int(wanted.index)
    raise ValueError(f"Expected a {backend} device, but got: {wanted!r}")


def name_of(index: Optional[int], backend: str) -> str:
    """ "mtia:1", as the library takes it; "mtia" for the current device."""
    return backend if index is None else f"{backend}:{index}"
