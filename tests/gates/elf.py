"""What readelf, nm and objdump say of one shared library, as Python values."""

import re
import subprocess
from dataclasses import dataclass
from functools import cached_property


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={'LC_ALL': 'C', 'PATH': '/usr/bin:/bin'}).stdout


@dataclass(frozen=True)
class Symbol:
    name: str
    version: str  # '' where it has none
    kind: str     # FUNC, OBJECT, TLS, ...
    binding: str  # GLOBAL, WEAK, UNIQUE
    defined: bool


class Elf:
    def __init__(self, path):
        self.path = str(path)

    @cached_property
    def dynamic(self):
        """Pairs of tag and value, in order."""
        pattern = re.compile(r'^ 0x[0-9a-f]+ \((\w+)\)\s+(.*)$', re.MULTILINE)
        return pattern.findall(output_of('readelf', '-dW', self.path))

    @property
    def needed(self):
        return {re.search(r'\[(.*)\]', value)[1] for tag, value in self.dynamic if tag == 'NEEDED'}

    @property
    def flags(self):
        return {word for tag, value in self.dynamic if tag in ('FLAGS', 'FLAGS_1')
                for word in value.replace('Flags:', '').split()}

    @property
    def tags(self):
        return {tag for tag, _ in self.dynamic}

    @cached_property
    def dynamic_symbols(self):
        symbols = []
        for line in output_of('readelf', '--dyn-syms', '-W', self.path).splitlines():
            words = line.split()
            if len(words) < 8 or not re.fullmatch(r'\d+:', words[0]):
                continue
            name, _, version = words[7].partition('@')
            symbols.append(Symbol(name, version.lstrip('@'), words[3], words[4], words[6] != 'UND'))
        return symbols

    @property
    def exported(self):
        return {symbol.name for symbol in self.dynamic_symbols if symbol.defined and symbol.binding != 'LOCAL'}

    @property
    def imported(self):
        return [symbol for symbol in self.dynamic_symbols if not symbol.defined and symbol.name]

    @property
    def glibc_floor(self):
        versions = re.findall(r'GLIBC_(\d+)\.(\d+)', output_of('readelf', '-VW', self.path))
        return max((int(major), int(minor)) for major, minor in versions)

    @property
    def tls_bytes(self):
        match = re.search(r'^\s+TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)', output_of('readelf', '-lW', self.path), re.MULTILINE)
        return int(match[1], 16) if match else 0

    def section(self, name):
        """Address, file offset and size, or None."""
        match = re.search(rf'^\s*\[\s*\d+\]\s+{re.escape(name)}\s+\S+\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)',
                          output_of('readelf', '-SW', self.path), re.MULTILINE)
        return tuple(int(number, 16) for number in match.groups()) if match else None

    def callers_of(self, function):
        """Names of the functions with a call (or a jump) to `function` through the PLT or the GOT."""
        callers, current = set(), ''
        for line in output_of('objdump', '-d', '--no-show-raw-insn', self.path).splitlines():
            if line.endswith('>:'):
                current = line.split('<', 1)[1][:-2]
            elif re.search(rf'<{re.escape(function)}(@plt|@@?GLIBC[^>]*|@[^>]*)?>', line) and not current.startswith(f'{function}@'):
                callers.add(current)
        return callers

    @cached_property
    def symbols_by_address(self):
        """Of the full symbol table; a local function's name is there only as long as nobody strips."""
        found = {}
        for line in output_of('nm', self.path).splitlines():
            match = re.match(r'^([0-9a-f]{16}) [tTwW] (\S+)$', line)
            if match:
                found.setdefault(int(match[1], 16), match[2])
        return found

    def functions_in(self, section):
        """Names of the functions that an array section (.init_array, .fini_array) points to."""
        place = self.section(section)
        if place is None:
            return []
        begin, _, size = place
        relocations = {int(at, 16): int(addend, 16) for at, addend in
                       re.findall(r'^([0-9a-f]{16})\s+\S+\s+R_\w+_RELATIVE\s+([0-9a-f]+)', output_of('readelf', '-rW', self.path), re.MULTILINE)}
        addresses = [relocations[at] for at in range(begin, begin + size, 8)]
        return [self.symbols_by_address.get(address, hex(address)) for address in addresses]

    def instructions(self, function):
        """'mnemonic operands' of one function, in order."""
        text = output_of('objdump', '-d', '--no-show-raw-insn', f'--disassemble={function}', self.path)
        return [' '.join(line.split('\t', 1)[1].split()) for line in text.splitlines() if re.match(r'^\s+[0-9a-f]+:\t', line)]
