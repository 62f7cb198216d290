"""Reads what a CUDA toolkit says about itself: the driver's names and versions, the runtime's exports, the error enums.

Only facts are taken (names, numbers); no text of the toolkit goes into what is generated.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TYPEDEF_HEADERS = ("cudaTypedefs.h", "cudaProfilerTypedefs.h", "cudaGLTypedefs.h", "cudaEGLTypedefs.h",
                   "cudaVDPAUTypedefs.h")
TYPEDEF = re.compile(r"typedef\s+CUresult\s*\(\s*CUDAAPI\s*\*\s*PFN_(cu[A-Z]\w*?)_v(\d+)(_ptds|_ptsz)?\s*\)\s*\(")
RUNTIME_HEADERS = ("cuda_runtime_api.h", "cuda_profiler_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h",
                   "cuda_vdpau_interop.h")
# In libcudart, but declared in no header that a program includes.
UNDECLARED_RUNTIME = ("__cudaGetKernel", "__cudaGetProcAddress", "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz",
                      "__cudaRegisterHostVar", "__cudaRegisterUnifiedTable",
                      "__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary",
                      "__cudaRegisterVar", "__cudaRegisterManagedVar", "__cudaRegisterFunction", "__cudaInitModule",
                      "__cudaPushCallConfiguration", "__cudaPopCallConfiguration")


@dataclass(frozen=True, order=True)
class DriverEntry:
    """One ABI of a driver function: what cuGetProcAddress is asked for, and the exported symbol that answers."""
    base: str
    version: int
    per_thread: bool
    symbol: str


def driver_entries(include: Path) -> list[DriverEntry]:
    versions: dict[tuple[str, str], set[int]] = {}
    for header in TYPEDEF_HEADERS:
        path = include / header
        if not path.exists():
            continue
        for base, version, suffix in TYPEDEF.findall(path.read_text(errors="replace")):
            if "WGL" not in base:  # Windows only
                versions.setdefault((base, suffix), set()).add(int(version))
    if not versions:
        raise SystemExit(f"no driver function is declared in {include}: is this a CUDA toolkit?")

    entries = []
    for (base, suffix), found in versions.items():
        for version in found:
            # The n-th ABI of a function is exported as base, base_v2, ...; a per-thread form has the number of the plain
            # ABI of its time (cuMemcpyHtoD came to per-thread streams as _v2).
            ordinal = sum(1 for plain in versions.get((base, ""), found) if plain <= version)
            number = "" if ordinal < 2 else f"_v{ordinal}"
            entries.append(DriverEntry(base, version, bool(suffix), f"{base}{number}{suffix}"))
    return sorted(entries)


def runtime_exports(include: Path, library: Path | None, nm: str) -> list[str]:
    """The functions that libcudart exports: its own list where the library is installed, else what headers declare."""
    if library and library.exists():
        listing = subprocess.run([nm, "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True)
        names = {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines() if " T " in line}
    else:
        names = set(UNDECLARED_RUNTIME)
        for header in RUNTIME_HEADERS:
            text = (include / header).read_text(errors="replace") if (include / header).exists() else ""
            names.update(re.findall(r"\bCUDARTAPI\s+(cuda[A-Z]\w*)\s*\(", text))
            for name, suffix in re.findall(r"#\s*define\s+(cuda\w+)\s+__CUDART_API_(PTDS|PTSZ)\(\1\)", text):
                names.add(f"{name}_{suffix.lower()}")
    return sorted(name for name in names if re.fullmatch(r"(__)?cuda\w+", name) and "WGL" not in name)


def enumerators(header: Path, pattern: str) -> list[tuple[str, int]]:
    """`name = number` pairs whose name matches; the first name of a number wins, as later ones are old spellings."""
    seen: dict[int, str] = {}
    for name, value in re.findall(r"\b(" + pattern + r")\s*=\s*(\d+)\b", header.read_text(errors="replace")):
        seen.setdefault(int(value), name)
    return sorted(((name, value) for value, name in seen.items()), key=lambda pair: pair[1])
