"""``torch.cuda``'s functions on devices and memory, answered by Tidemark for this process. Sizes are in bytes."""

from .._backend import Backend, DeviceScope

_backend = Backend("cuda")


# PyTorch's functions on devices are the backend's own.
is_available = _backend.is_available
is_initialized = _backend.is_initialized
init = _backend.init
device_count = _backend.device_count
current_device = _backend.current_device
set_device = _backend.set_device


class device(DeviceScope):
    """``with tidemark.cuda.device(1):`` another current device for a while."""

    _backend = _backend


from . import memory  # noqa: E402  (needs _backend)
from .memory import *  # noqa: E402,F403

__all__ = [
    "current_device",
    "device",
    "device_count",
    "init",
    "is_available",
    "is_initialized",
    "set_device",
]
__all__ += memory.__all__
