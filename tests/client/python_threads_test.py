"""Phases of the Python package, and processes that one thread closes while another reads.

    python_threads_test.py BUILD_DIRECTORY SOURCE_ROOT BACKEND...
"""

import sys
import unittest

from python_test import MIB, Case


class Phases(Case):
    def test_nest_and_disturb_nobody(self):
        guest = self.guest('mtia')
        guest.value(f'alloc({4 * MIB})')
        for line in ('outer, inner = tidemark.phase("outer"), tidemark.phase("inner")', 'outer.__enter__()',
                     f'free(alloc({64 * MIB}))', 'inner.__enter__()', f'free(alloc({8 * MIB}))',
                     'here.reset_peak_memory_stats()'):
            guest.answer(line)
        self.assert_row(guest, 'inner.max_memory_allocated()', 12 * MIB)  # so far
        self.assert_row(guest, 'inner.max_memory_allocated("mtia:1")', 0)
        guest.value(f'free(alloc({16 * MIB}))')
        guest.value('inner.__exit__(None, None, None)')
        guest.value('outer.__exit__(None, None, None)')
        guest.value(f'free(alloc({128 * MIB}))')

        self.assert_row(guest, 'inner.max_memory_allocated()', 20 * MIB)
        self.assert_row(guest, 'outer.max_memory_allocated("mtia:0")', 68 * MIB)
        self.assert_row(guest, 'outer.max_memory_allocated("mtia:1")', 0)
        self.assert_row(guest, 'outer.memory_stats()["allocated_bytes.all.peak"]', 68 * MIB)
        self.assert_row(guest, 'outer.max_memory_held() == outer.max_memory_reserved()', True)

    # Each ended the one that was begun last, and so had the other's numbers.
    def test_overlap_and_keep_their_own_numbers(self):
        guest = self.guest('mtia')
        guest.value('alloc(1 << 20)')
        guest.answer('a, b = tidemark.phase("a"), tidemark.phase("b")')
        guest.answer('a.__enter__()')
        guest.value(f'free(alloc({64 * MIB}))')
        guest.answer('b.__enter__()')
        guest.value(f'free(alloc({8 * MIB}))')
        guest.value('a.__exit__(None, None, None)')
        guest.value(f'free(alloc({16 * MIB}))')
        guest.value('b.__exit__(None, None, None)')

        self.assert_row(guest, 'a.max_memory_allocated()', 65 * MIB)
        self.assert_row(guest, 'b.max_memory_allocated()', 17 * MIB)

    def test_are_entered_and_left_once(self):
        guest = self.guest('mtia')
        guest.value('alloc(1 << 20)')
        guest.answer('a = tidemark.phase("a")')
        self.assert_row(guest, 'a.max_memory_allocated()', ('RuntimeError', "phase 'a' has not begun"))
        self.assert_row(guest, 'a.__exit__(None, None, None)', ('RuntimeError', "phase 'a' is not open"))
        self.assert_row(guest, 'a.__enter__() is a', True)
        self.assert_row(guest, 'a.__enter__()', ('RuntimeError', "phase 'a' is open already"))
        self.assert_row(guest, 'a.__exit__(None, None, None)', None)
        self.assert_row(guest, 'a.__exit__(None, None, None)', ('RuntimeError', "phase 'a' is not open"))
        guest.value(f'free(alloc({8 * MIB}))')
        self.assert_row(guest, 'a.__enter__() is a', True)
        self.assert_row(guest, 'a.max_memory_allocated()', MIB)  # it began anew
        self.assert_row(guest, 'a.__exit__(None, None, None)', None)

    def test_give_their_places_back_when_they_are_forgotten(self):
        guest = self.guest('mtia')
        guest.value('alloc(1000)')
        guest.answer('import gc')
        for _ in range(3):
            guest.answer('forgotten = [tidemark.phase("a").__enter__() for i in range(64)]')
            self.assert_row(guest, 'len(forgotten)', 64)
            self.assert_row(guest, 'tidemark.phase("b").__enter__()', ('TidemarkError', '64 phases are open'))
            guest.answer('del forgotten')
            guest.answer('gc.collect()')

    def test_of_a_parent_measure_nothing_in_its_child(self):
        guest = self.guest('mtia', TIDEMARK_LOG='off')
        guest.value('alloc(1000)')
        guest.answer('import os')
        guest.answer('a = tidemark.phase("a").__enter__()')
        code = ('pid = os.fork()\\n'
                'if pid == 0:\\n'
                '  try:\\n'
                '    alloc(1000)\\n'
                '    a.__exit__(None, None, None)\\n'
                '    try: a.max_memory_allocated()\\n'
                '    except tidemark.NotInitialized: os._exit(7)\\n'
                '  finally: os._exit(1)\\n')
        guest.answer(f"exec('{code}')")
        self.assert_row(guest, 'os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])', 7)
        self.assert_row(guest, 'a.__exit__(None, None, None)', None)
        self.assert_row(guest, 'a.max_memory_allocated()', 1024)

    def test_end_with_an_exception_and_decorate(self):
        guest = self.guest('mtia')
        guest.value('alloc(1000)')
        guest.answer('exec("@tidemark.phase(\'step\')\\ndef step(): raise KeyError(\'mine\')")')
        for _ in range(65):  # each gives its place back
            self.assert_row(guest, 'step()', ('KeyError', 'mine'))


class AProcessThatIsClosed(Case):
    # What was fetched before the close was used behind it: a crash, or a ProcessGone of a process that lives.
    def test_answers_what_is_under_way(self):
        guest, looker = self.guest('mtia'), self.guest('mtia', shimmed=False, MALLOC_PERTURB_='165')
        guest.value(f'alloc({4 * MIB})')
        looker.answer('exec("class Closes:\\n  def __str__(self): p.close(); return \'mtia:0\'")')
        for call, wanted in (('memory_allocated', 4 * MIB), ('max_memory_reserved', 20 * MIB), ('reset_peak_memory_stats', None)):
            looker.answer(f'p = tidemark.Process({guest.process.pid})')
            self.assert_row(looker, f'p.{call}(Closes())', wanted)
            self.assert_row(looker, f'p.{call}()', ('ValueError', 'the process was closed'))
        self.assert_row(looker, 'repr(p)', '<tidemark.Process, closed>')

    def test_gives_its_files_back_with_the_last_reader(self):
        guest, looker = self.guest('mtia'), self.guest('mtia', shimmed=False)
        guest.value('alloc(1000)')
        looker.answer('import os')
        before = looker.value('len(os.listdir("/proc/self/fd"))')
        for way in ('p.close()', 'del p', 'p.__exit__(None, None, None)'):
            looker.answer(f'p = tidemark.Process({guest.process.pid})')
            self.assertGreater(looker.value('len(os.listdir("/proc/self/fd"))'), before)
            looker.answer(way)
            self.assertEqual(before, looker.value('len(os.listdir("/proc/self/fd"))'), way)

    def test_says_so_to_threads_that_go_on_reading(self):
        guest, looker = self.guest('mtia'), self.guest('mtia', shimmed=False, MALLOC_PERTURB_='165')
        guest.value(f'alloc({4 * MIB})')
        code = ('import threading\\n'
                'ends = []\\n'
                'def read(process, reading):\\n'
                '  try:\\n'
                '    while True:\\n'
                '      assert process.memory_stats()["allocated_bytes.all.current"] == 4 << 20\\n'
                '      assert process.devices == ["mtia:0"] and process.state == "live" and repr(process)\\n'
                '      reading.set()\\n'
                '  except BaseException as error: ends.append(repr(error))\\n'
                'def watch(pid):\\n'
                '  with tidemark.Process(pid) as process:\\n'
                '    pairs = [(threading.Thread(target=read, args=(process, e)), e) for e in (threading.Event(), threading.Event())]\\n'
                '    for thread, reading in pairs: thread.start()\\n'
                '    for thread, reading in pairs: reading.wait()\\n'
                '  for thread, reading in pairs: thread.join()\\n')
        looker.answer(f"exec('{code}')")
        for _ in range(100):
            self.assert_row(looker, f'watch({guest.process.pid})', None)
        self.assertEqual({repr(ValueError('the process was closed'))}, set(looker.value('ends')))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
