"""Makes the wheel and the source archive of this package (PEP 517), with nothing but the standard library."""

import base64
import hashlib
import re
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def _field(name):
    return re.search(rf'^{name} = "(.*)"$', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]


def _name():
    return f"{_field('name')}-{_field('version')}"


def _metadata():
    return (
        f"Metadata-Version: 2.1\nName: {_field('name')}\nVersion: {_field('version')}\n"
        f"Summary: {_field('description')}\nLicense: Apache-2.0\nRequires-Python: {_field('requires-python')}\n"
        "Description-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text(encoding="utf-8")
    )


def _sources():
    """Files of the package, by their names in a wheel."""
    files = sorted((HERE / "tidemark").rglob("*"))
    return {str(file.relative_to(HERE)): file.read_bytes() for file in files if file.suffix in (".py", ".typed")}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{_name()}.dist-info"
    files = {
        **_sources(),
        f"{info}/METADATA": _metadata().encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tidemark\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = ("".join(lines) + f"{info}/RECORD,,\n").encode()
    wheel = f"{_name()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    archive = f"{_name()}.tar.gz"
    with tarfile.open(Path(sdist_directory) / archive, "w:gz", format=tarfile.PAX_FORMAT) as to:
        for path in [*_sources(), "pyproject.toml", "README.md", "build_backend.py"]:
            to.add(HERE / path, f"{_name()}/{path}")
    return archive
