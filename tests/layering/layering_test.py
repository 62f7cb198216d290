"""Holds every #include of the project to the rooms of the design, and shows that a wrong one would be found.

    layering_test.py ROOT
"""

import sys
import tempfile
import unittest
from pathlib import Path

import rules

ROOT = Path(__file__).resolve().parents[2]


class TheTree(unittest.TestCase):
    def test_has_sources_in_every_room_that_the_design_builds_first(self):
        rooms = {rules.room_of(path) for path in rules.sources(ROOT)}

        self.assertLessEqual({'shared/base', 'shared/segment', 'shim/alloc', 'simulator'}, rooms)

    def test_keeps_to_the_rooms(self):
        self.assertEqual([], [str(finding) for finding in rules.check_tree(ROOT)])

    def test_lists_no_long_file_that_is_short_by_now(self):
        for path in rules.LONGER:
            with self.subTest(path):
                self.assertGreater((ROOT / path).read_text(encoding='utf-8').count('\n'), rules.MOST_LINES)


class AWrongInclude(unittest.TestCase):
    """Each case is a small tree with one file more than it may have."""

    def findings(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in ('shared/base/bytes.hpp', 'shared/segment/reader.hpp', 'shim/alloc/upstream.hpp',
                         'shim/entry/entry.hpp', 'shim/backend/cuda.hpp', 'viewer/table.hpp'):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text('// A header.\n#pragma once\n', encoding='utf-8')
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding='utf-8')
            return [finding.text for finding in rules.check_tree(root)]

    def assert_found(self, path, include, words):
        found = self.findings(path, f'// A file.\n#include {include}\n')
        self.assertEqual(1, len(found), found)
        self.assertIn(words, found[0])

    def assert_clean(self, path, include):
        self.assertEqual([], self.findings(path, f'// A file.\n#include {include}\n'))

    def test_is_found_where_the_table_has_no_such_arrow(self):
        self.assert_found('shim/alloc/cache.cpp', '"shared/segment/reader.hpp"', 'may not know shared/segment')
        self.assert_found('shared/base/words.cpp', '"shim/alloc/upstream.hpp"', 'may not know shim/alloc')
        self.assert_found('shim/entry/entry.cpp', '"shim/backend/cuda.hpp"', 'may not know shim/backend')
        self.assert_found('viewer/main.cpp', '"shim/alloc/upstream.hpp"', 'may not know shim/alloc')
        self.assert_found('shim/publish/publisher.cpp', '"shim/backend/cuda.hpp"', 'may not know shim/backend')
        self.assert_found('shim/runtime/runtime.cpp', '"shim/entry/entry.hpp"', 'may not know shim/entry')
        self.assert_found('shim/hook/door.cpp', '"shared/base/bytes.hpp"', 'may not know shared/base')

    def test_is_found_in_what_has_never_heard_of_us(self):
        self.assert_found('simulator/core/device.cpp', '"shared/base/bytes.hpp"', 'may not know shared/base')
        self.assert_found('tests/programs/hold.cpp', '"shared/base/bytes.hpp"', 'may not know shared/base')

    def test_is_found_where_a_room_must_not_know_a_library(self):
        self.assert_found('shim/alloc/cache.cpp', '<cuda.h>', 'may not use driver')
        self.assert_found('shim/publish/publisher.cpp', '<cuda_runtime_api.h>', 'may not use driver')
        self.assert_found('shim/alloc/cache.cpp', '<dlfcn.h>', 'may not use dlfcn')
        self.assert_found('shim/runtime/log.cpp', '<boost/interprocess/mapped_region.hpp>', 'may not use boost')
        self.assert_found('shim/runtime/log.cpp', '<fmt/format.h>', 'may not use fmt')
        self.assert_found('shim/runtime/log.cpp', '<iostream>', "guest's process")

    def test_is_found_where_the_path_is_not_from_the_root(self):
        self.assert_found('shim/alloc/cache.cpp', '"cache.hpp"', 'not a path from the root')
        self.assert_found('shim/alloc/cache.cpp', '"../alloc/upstream.hpp"', 'not a path from the root')
        self.assert_found('shim/alloc/cache.cpp', '"shim/alloc/gone.hpp"', 'does not exist')

    def test_is_not_found_where_the_table_has_the_arrow(self):
        self.assert_clean('shim/alloc/cache.cpp', '"shared/base/bytes.hpp"')
        self.assert_clean('shim/backend/mtia.cpp', '"simulator/mtia/include/mtia.h"')
        self.assert_clean('shim/backend/cuda_driver.cpp', '<cuda.h>')
        self.assert_clean('shared/segment/mapping.cpp', '<boost/interprocess/mapped_region.hpp>')
        self.assert_clean('tests/programs/hold.c', '<mtia.h>')
        self.assert_clean('tests/alloc/cache_test.cpp', '"shim/alloc/upstream.hpp"')
        self.assert_clean('shim/alloc/cache.cpp', '<vector>')


class AFile(unittest.TestCase):
    def findings(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / path).parent.mkdir(parents=True)
            (Path(folder) / path).write_text(text, encoding='utf-8')
            return [finding.text for finding in rules.check_tree(folder)]

    def test_needs_pragma_once_if_it_is_a_header(self):
        self.assertEqual(['a header without #pragma once'], self.findings('viewer/table.hpp', '// A table.\n'))

    def test_says_at_its_top_what_it_is(self):
        self.assertEqual(['opens without a word on what it is'], self.findings('viewer/table.hpp', '#pragma once\n'))

    def test_has_one_idea(self):
        found = self.findings('viewer/table.cpp', '// A table.\n' + '\n' * rules.MOST_LINES)

        self.assertEqual(1, len(found))
        self.assertIn('second idea', found[0])

    def test_belongs_to_a_room(self):
        self.assertEqual(1, len(self.findings('shim/new/thing.cpp', '// A thing.\n')))


if __name__ == '__main__':
    unittest.main()
