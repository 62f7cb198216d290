"""A hit may not become dearer unnoticed: its instructions are those on record, give or take 10 %.

    hit_path_test.py BUILD COMPILER
bench/hit_path.py counts, and says how the record is made anew. Exits 77 with the reason where nothing can be compared.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'bench'))
import hit_path  # noqa: E402


class AHit(unittest.TestCase):
    def test_costs_what_is_on_record(self):
        recorded = hit_path.recorded_pairs()
        counted = hit_path.count(Path(sys.argv[1]).resolve())

        self.assertEqual([], hit_path.grown(recorded, counted))

    def test_would_be_found_to_have_grown(self):
        self.assertEqual([], hit_path.grown({'strict': 1000}, {'strict': 1100}))
        self.assertEqual(['strict: 1101 instructions a pair, 1000 recorded'], hit_path.grown({'strict': 1000}, {'strict': 1101}))


if __name__ == '__main__':
    reason = hit_path.reason_to_skip(sys.argv[2])
    if reason:
        print(f'skipped: {reason}')
        sys.exit(hit_path.SKIPPED)
    unittest.main(argv=sys.argv[:1])
