#!/usr/bin/env python3
"""Makes the parts of the simulated CUDA that follow from a toolkit's headers.

    generate.py --include DIR [--cudart FILE] [--nm PROGRAM] --node libcudart.so.13 --out DIR

Into --out go:
  driver_table.inc     X(base, version, per_thread, symbol) a line, sorted: what cuGetProcAddress answers from
  driver_stubs.inc     X(symbol) for every driver function; simulated ones have a strong definition beside the weak stub
  runtime_stubs.inc    X(name) for every runtime function that returns a cudaError_t
  runtime_exports.map  the runtime's version node
  driver_errors.inc, runtime_errors.inc   X(value, name, text)
"""

import argparse
import json
from pathlib import Path

from error_texts import text_of
from toolkit import driver_entries, enumerators, runtime_exports

# Return something else than an error code, so they are always written by hand.
NOT_STUBS = {"cudaGetErrorName", "cudaGetErrorString", "cudaCreateChannelDesc", "__cudaRegisterFatBinary",
             "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary", "__cudaInitModule", "__cudaRegisterVar",
             "__cudaRegisterFunction", "__cudaRegisterManagedVar", "__cudaRegisterHostVar",
             "__cudaRegisterUnifiedTable", "__cudaPushCallConfiguration"}


def write(path: Path, lines: list[str]) -> None:
    """Leaves an unchanged file alone, so that nothing is compiled again for nothing."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def error_lines(pairs: list[tuple[str, int]]) -> list[str]:
    return [f"X({value}, {json.dumps(name)}, {json.dumps(text_of(name, value))})" for name, value in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", type=Path, required=True, help="the toolkit's include directory")
    parser.add_argument("--cudart", type=Path, help="the toolkit's libcudart.so, whose export list is taken")
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--node", required=True, help="version node and SONAME of the runtime")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    entries = driver_entries(options.include)
    write(options.out / "driver_table.inc",
          [f"X({e.base}, {e.version}, {str(e.per_thread).lower()}, {e.symbol})" for e in entries])
    write(options.out / "driver_stubs.inc", [f"X({symbol})" for symbol in sorted({e.symbol for e in entries})])

    exports = runtime_exports(options.include, options.cudart, options.nm)
    write(options.out / "runtime_stubs.inc", [f"X({name})" for name in exports if name not in NOT_STUBS])
    write(options.out / "runtime_exports.map",
          [f"{options.node} {{", "  global:", *(f"    {name};" for name in exports), "  local:", "    *;", "};"])

    write(options.out / "driver_errors.inc",
          error_lines(enumerators(options.include / "cuda.h", r"CUDA_SUCCESS|CUDA_ERROR_\w+")))
    write(options.out / "runtime_errors.inc",
          error_lines(enumerators(options.include / "driver_types.h", r"cudaSuccess|cudaError[A-Z]\w*")))


if __name__ == "__main__":
    main()
