"""Says where the PyTorch of this interpreter has its headers and libraries, or why it can't be built against.

Prints four lines: "ok", the version, the folder of the package, the folder of Python.h; or "no" and the reason.
"""

import importlib.metadata
import importlib.util
import re
import sys
import sysconfig
from pathlib import Path

OLDEST = (2, 9)  # has a base class for allocators whose statistics torch.accelerator asks


def reason():
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        return f"{sys.executable} has no torch"
    version = importlib.metadata.version("torch")
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < OLDEST:
        return f"torch {version} is older than 2.9"
    folder = Path(found.submodule_search_locations[0])
    if not (folder / "include/ATen/detail/MTIAHooksInterface.h").is_file():
        return f"torch {version} is there without its headers"
    python = Path(sysconfig.get_paths()["include"])
    if not (python / "Python.h").is_file():
        return f"{python} has no Python.h (python3-dev)"
    print("ok", version, folder, python, sep="\n")
    return None


if (why := reason()) is not None:
    print("no", why, sep="\n")
