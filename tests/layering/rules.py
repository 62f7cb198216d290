"""Which room may include what: the table of the design, as data, and the check that reads it."""

import re
from dataclasses import dataclass
from pathlib import Path

SHARED = ['shared/base', 'shared/segment', 'shared/control', 'shared/history', 'shared/ranges']
ANY = ['*']

# A room is the longest of these prefixes that a file's path has. It may include itself, the C++ and C libraries, and what
# stands beside it here: other rooms, single headers of them, and kinds of foreign headers (OUTSIDE below).
ROOMS = {
    'shared/base': [],
    'shared/segment': ['shared/base', 'boost'],
    'shared/control': ['shared/base', 'shared/segment'],
    'shared/history': ['shared/base', 'shared/segment'],
    'shared/ranges': ['shared/base', 'shared/segment'],
    'shim/alloc': ['shared/base'],
    'shim/hook': ['dlfcn'],
    'shim/stacks': ['shared/base', 'shared/history', 'shim/hook', 'dlfcn'],
    'shim/nvtx': ['shared/base', 'shared/segment/text.hpp'],
    'shim/backend': ['shared/base', 'shim/alloc', 'shim/hook', 'driver', 'dlfcn'],
    'shim/publish': ['shim/alloc', 'shim/stacks', *SHARED],
    'shim/runtime': ['shim/alloc', 'shim/hook', 'shim/nvtx', 'shim/backend', 'shim/publish', 'driver', 'dlfcn', *SHARED],
    # Of the backends no more than where a driver's real functions are: what they do with them is the runtime's to ask.
    'shim/entry': ['shim/runtime', 'shim/hook', 'shim/nvtx', 'shared/base', 'shim/backend/cuda_runtimes.hpp',
                   'shim/backend/cuda_symbols.hpp', 'shim/backend/mtia_symbols.hpp', 'driver', 'dlfcn'],
    'viewer/symbols': ['elfutils', 'shared/base'],
    'viewer/http': ['beast'],
    'viewer': ['viewer/symbols', 'viewer/http', 'fmt', 'cli', 'json', 'curses', 'dlfcn', *SHARED],
    'client': ['dlfcn', *SHARED],
    'simulator': ['driver', 'dlfcn'],
    'tests/programs': ['driver', 'dlfcn'],
    'tests': ANY,
    'bench': ANY,
}

# Headers that are not ours, by kind; whatever matches none is the C or C++ library's.
OUTSIDE = [
    ('driver', re.compile(r'^(simulator/mtia/include/)?mtia\.h$|^(cuda|nv|driver_types|vector_types|library_types)\w*\.h$')),
    ('beast', re.compile(r'^boost/(asio|beast)/')),
    ('boost', re.compile(r'^boost/')),
    ('fmt', re.compile(r'^fmt/')),
    ('cli', re.compile(r'^CLI/')),
    ('json', re.compile(r'^nlohmann/')),
    ('elfutils', re.compile(r'^(elfutils/|(dwarf|libelf|gelf)\.h$)')),
    ('curses', re.compile(r'^(n?curses|ncursesw/)')),
    ('test', re.compile(r'^(gtest|gmock|benchmark)/')),
    ('dlfcn', re.compile(r'^dlfcn\.h$')),
]

# The guest's process: no iostream, no locale, and with them their static constructors.
FORBIDDEN_IN_SHIM = re.compile(r'^(iostream|ostream|istream|fstream|sstream|iomanip|locale|regex|filesystem|format)$')

MOST_LINES = 400
# Longer files, each with the reason why it is one idea nevertheless.
LONGER = {}

SOURCE = {'.hpp', '.cpp', '.h', '.c', '.inc', '.def'}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    text: str

    def __str__(self):
        return f'{self.path}:{self.line}: {self.text}'


def room_of(path):
    """The room that a file or an included path belongs to, or None."""
    rooms = [room for room in ROOMS if path.startswith(room + '/')]
    return max(rooms, key=len, default=None)


def kind_of(header):
    return next((kind for kind, pattern in OUTSIDE if pattern.match(header)), 'library')


def check_include(room, header, quoted, root):
    """What is wrong with this include in this room, or None."""
    allowed = ROOMS[room]
    kind = kind_of(header)
    if kind == 'driver' and (allowed is ANY or 'driver' in allowed):
        return None
    other = room_of(header)
    if quoted and other is None and kind == 'library':
        return f'"{header}" is not a path from the root of the project'
    if other is not None:
        if not (root / header).is_file():
            return f'"{header}" does not exist'
        if allowed is ANY or other == room or other in allowed or header in allowed:
            return None
        return f'{room} may not know {other} ("{header}")'
    if room.startswith('shim/') and FORBIDDEN_IN_SHIM.match(header):
        return f'<{header}> has no place in the guest\'s process'
    if kind == 'library' or allowed is ANY or kind in allowed:
        return None
    return f'{room} may not use {kind} (<{header}>)'


def check_file(root, path):
    """All findings in one source file; `path` is relative to `root`."""
    room = room_of(path)
    text = (root / path).read_text(encoding='utf-8')
    lines = text.count('\n')
    found = []
    if room is None:
        return [Finding(path, 1, 'in no room (tests/layering/rules.py lists them)')]
    for match in INCLUDE.finditer(text):
        problem = check_include(room, match[1] or match[2], match[1] is not None, root)
        if problem:
            found.append(Finding(path, text.count('\n', 0, match.start()) + 1, problem))
    if path.endswith('.hpp') and '#pragma once' not in text:
        found.append(Finding(path, 1, 'a header without #pragma once'))
    if path.endswith('.hpp') and not text.startswith(('//', '/*')):
        found.append(Finding(path, 1, 'opens without a word on what it is'))
    if lines > MOST_LINES and path not in LONGER:
        found.append(Finding(path, lines, f'{lines} lines; past {MOST_LINES} there is a second idea to take out'))
    return found


def sources(root):
    """Every source file of the rooms, relative to the root."""
    tops = sorted({room.split('/')[0] for room in ROOMS})
    files = (file for top in tops for file in (root / top).rglob('*') if file.suffix in SOURCE and file.is_file())
    return sorted(str(file.relative_to(root)) for file in files)


def check_tree(root):
    root = Path(root)
    return [finding for path in sources(root) for finding in check_file(root, path)]
