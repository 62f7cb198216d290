"""Short texts of the error codes that programs meet; any other is read off its name."""

import re

TEXTS = {
    0: "no error",
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    4: "driver shutting down",
    36: "API call is not supported in the installed CUDA driver",
    34: "CUDA driver is a stub library",
    35: "CUDA driver version is insufficient for CUDA runtime version",
    46: "CUDA-capable device(s) is/are busy or unavailable",
    98: "invalid device function",
    100: "no CUDA-capable device is detected",
    101: "invalid device ordinal",
    200: "device kernel image is invalid",
    201: "invalid device context",
    209: "no kernel image is available for execution on the device",
    216: "exclusive-thread device already in use by a different thread",
    217: "peer access is not supported between these two devices",
    301: "file not found",
    400: "invalid resource handle",
    401: "the operation cannot be performed in the present state",
    500: "named symbol not found",
    600: "device not ready",
    700: "an illegal memory access was encountered",
    702: "the launch timed out and was terminated",
    704: "peer access is already enabled",
    705: "peer access has not been enabled",
    708: "cannot set while device is active in this process",
    709: "context is destroyed",
    712: "part or all of the requested memory range is already mapped",
    713: "pointer does not correspond to a registered memory region",
    719: "unspecified launch failure",
    800: "operation not permitted",
    801: "operation not supported",
    900: "operation not permitted when stream is capturing",
    901: "operation failed due to a previous error during capture",
    906: "operation would make the legacy stream depend on a capturing blocking stream",
    999: "unknown error",
}


def text_of(name: str, value: int) -> str:
    if value in TEXTS:
        return TEXTS[value]
    words = re.sub(r"^(CUDA_ERROR_|cudaError)", "", name).replace("ECCU", "EccU")
    words = words.replace("_", " ") if words.isupper() or "_" in words else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", words)
    return words.lower()
