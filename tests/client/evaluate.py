"""Evaluates one line of Python after the other, in a process that can allocate on a simulated device.

    evaluate.py BACKEND        mtia or cuda

Answers each line with one of JSON: {"value": REPR}, or {"error": NAME OF THE CLASS, "bases": [...], "text": MESSAGE}.
`alloc(bytes)` gives a pointer or the driver's code as a negative number, `free(pointer)` the driver's code.
"""

import ctypes
import json
import sys

import tidemark

if sys.argv[1] == 'mtia':
    driver = ctypes.CDLL('libmtia.so.1')
    _alloc, _free = driver.mtiaMalloc, driver.mtiaFree
else:
    driver = ctypes.CDLL('libcuda.so.1')
    _alloc, _free = driver.cuMemAlloc_v2, driver.cuMemFree_v2
_alloc.argtypes, _free.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t], [ctypes.c_void_p]


def alloc(size):
    pointer = ctypes.c_void_p()
    code = _alloc(ctypes.byref(pointer), size)
    return pointer.value if code == 0 else -code


def free(pointer):
    return _free(pointer)


names = {'tidemark': tidemark, 'alloc': alloc, 'free': free, 'here': getattr(tidemark, sys.argv[1])}
for line in sys.stdin:
    try:
        try:
            answer = {'value': repr(eval(line, names))}
        except SyntaxError:
            exec(line, names)
            answer = {'value': 'None'}
    except BaseException as error:
        answer = {'error': type(error).__name__, 'bases': [base.__name__ for base in type(error).__mro__], 'text': str(error)}
    print(json.dumps(answer), flush=True)
