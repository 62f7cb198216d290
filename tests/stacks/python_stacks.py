"""Python frames as they are seen from a library that the interpreter has loaded.

    python_stacks.py PROBE
Runs in each interpreter that is to be tested (python_interpreters.py).
"""

import ctypes
import gc
import inspect
import os
import sys
import threading
import unittest

PROBE = sys.argv[1]
TAKEN, FULL, FOREIGN, WITHOUT_GIL, UNSUPPORTED, FINALIZING = range(6)

with_gil = ctypes.PyDLL(PROBE)
without_gil = ctypes.CDLL(PROBE)
buffer = ctypes.create_string_buffer(1 << 16)


def take(library=with_gil):
    outcome = library.probe_take(buffer, len(buffer))
    lines = buffer.value.decode('utf-8', 'replace').splitlines()
    return outcome, [(int(line), name, file) for line, name, file in (text.split('\t') for text in lines)]


def line_here():
    return inspect.currentframe().f_back.f_lineno


class PythonFrames(unittest.TestCase):
    def setUp(self):
        self.assertEqual(1, with_gil.probe_find())

    def test_are_those_of_the_callers(self):
        def inner():
            return take(), line_here()

        class Trainer:
            def step(self):
                return inner(), line_here()

        def generate():
            yield Trainer().step(), line_here()

        ((((outcome, frames), inner_line), step_line), generate_line), here = next(generate()), line_here()

        self.assertEqual(TAKEN, outcome)
        self.assertEqual([(inner_line, 'inner', __file__), (step_line, 'step', __file__), (generate_line, 'generate', __file__),
                          (here, 'test_are_those_of_the_callers', __file__)], frames[1:5])
        self.assertEqual(('<module>', __file__), frames[-1][1:])

    def test_are_the_same_in_an_older_interpreter(self):
        outcome, new = take()
        try:
            with_gil.probe_forget_newer_functions()
            outcome_as_older, old = take()
        finally:
            with_gil.probe_find()

        self.assertEqual((TAKEN, TAKEN), (outcome, outcome_as_older))
        self.assertEqual([frame[1:] for frame in new], [frame[1:] for frame in old])

    def test_are_left_out_without_the_gil(self):
        self.assertEqual((WITHOUT_GIL, []), take(without_gil))

    def test_are_left_out_in_a_thread_that_python_does_not_know(self):
        self.assertEqual(FOREIGN, with_gil.probe_take_in_other_thread())

    def test_are_each_threads_own(self):
        seen = []

        def work():
            for _ in range(100):
                seen.append(take()[1][1][1])
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual(['work'] * 400, seen)

    def test_stop_where_there_is_no_more_room(self):
        def deeper(n):
            return take() if n == 0 else deeper(n - 1)
        outcome, frames = deeper(100)

        self.assertEqual(FULL, outcome)
        self.assertEqual(32, len(frames))

    def test_have_names_of_any_kind(self):
        for file, name, shown in (('äöü.py', 'größe', 'größe'), ('<generated>', '𝒻', 'f'), ('bad\udcff.py', 'bad', 'bad')):
            scope = {'take': take}
            exec(compile(f'def {name}():\n\n  return take()', file, 'exec'), scope)
            _, frames = scope[shown]()

            self.assertEqual((3, shown, '?' if '\udcff' in file else file), frames[1])

    def test_are_not_taken_for_others_that_had_the_same_address(self):
        for i in range(500):
            scope = {'take': take}
            exec(compile(f'def generated_{i}(): return take()', f'<{i}>', 'exec'), scope)
            _, frames = scope.pop(f'generated_{i}')()

            self.assertEqual((1, f'generated_{i}', f'<{i}>'), frames[1])

    def test_leave_references_and_collector_as_they_were(self):
        take()
        code = take.__code__
        before = sys.getrefcount(code), sys.getrefcount(code.co_name), gc.isenabled(), with_gil.probe_kept()
        with_gil.probe_take_often(10000)
        take()

        self.assertEqual(before[:3], (sys.getrefcount(code), sys.getrefcount(code.co_name), gc.isenabled()))
        self.assertLessEqual(with_gil.probe_kept(), before[3] + 1)
        gc.disable()
        try:
            take()
            self.assertFalse(gc.isenabled())
        finally:
            gc.enable()

    def test_run_no_python_code(self):
        inside, ran = [False], []

        class Cycle:
            def __init__(self):
                self.me = self

            def __del__(self):
                ran.append(inside[0])

        def deep(n):
            if n > 0:
                return deep(n - 1)
            inside[0] = True
            with_gil.probe_take_often(1)
            inside[0] = False
            return None
        threshold = gc.get_threshold()
        gc.set_threshold(1)
        try:
            for _ in range(50):
                Cycle()
                deep(20)
        finally:
            gc.set_threshold(*threshold)
        gc.collect()

        self.assertEqual([], [True for one in ran if one])
        self.assertEqual(50, len(ran))

    def test_keep_an_exception_that_is_on_its_way(self):
        with self.assertRaises(TypeError) as raised:
            with_gil.probe_take_with_exception()

        self.assertIn('bad argument', str(raised.exception))

    def test_are_left_out_in_another_interpreter_where_that_is_not_known(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                self.skipTest('no module that makes interpreters')
        try:
            other = interpreters.create(isolated=False)
        except (TypeError, ValueError):
            try:
                other = interpreters.create('legacy')
            except TypeError:
                other = interpreters.create()
        reader, writer = os.pipe()
        interpreters.run_string(other, f"import ctypes, os; os.write({writer}, bytes([ctypes.PyDLL({PROBE!r}).probe_take_often(1)]))")
        interpreters.destroy(other)

        # From 3.12 on a thread knows which interpreter it runs, so its frames can be taken there as well.
        self.assertEqual(TAKEN if sys.version_info >= (3, 12) else UNSUPPORTED, os.read(reader, 1)[0])
        self.assertIn(take()[0], (TAKEN, UNSUPPORTED))


class Recorded(unittest.TestCase):
    def record(self, native, python, library=with_gil):
        number = library.probe_record(native, python, buffer, len(buffer))
        return number, buffer.value.decode().splitlines()

    def test_stacks_have_native_frames_and_then_pythons(self):
        # An interpreter that specialises its code calls through other functions once it is warm.
        *_, (first, lines), (second, again) = (self.record(1, 1) for _ in range(100))

        self.assertNotEqual(0, first)
        self.assertEqual((first, lines), (second, again))
        kinds = ['python' if '\t' in line else line for line in lines[:-1]]
        self.assertEqual(sorted(set(kinds)), sorted({'address', 'python'} | set(kinds) & {'more'}))
        self.assertLess(len(kinds) - 1 - kinds[::-1].index('address'), kinds.index('python'))
        self.assertIn('test_stacks_have_native_frames_and_then_pythons', '\n'.join(lines))

    def test_stacks_have_what_was_asked_for(self):
        self.assertEqual(0, self.record(0, 0)[0])
        self.assertNotIn('address', self.record(0, 1)[1])
        self.assertFalse([line for line in self.record(1, 0)[1] if '\t' in line])

    def test_stacks_without_the_gil_are_counted(self):
        before = int(self.record(1, 1)[1][-1].split()[0])
        _, lines = self.record(1, 1, without_gil)

        self.assertEqual(before + 1, int(lines[-1].split()[0]))
        self.assertFalse([line for line in lines if '\t' in line])


class AtTheEnd:
    """Taken while the interpreter goes down: told on stdout, since nobody can raise then."""

    def __del__(self, take_often=with_gil.probe_take_often, write=os.write):
        write(1, b'at the end: %d\n' % take_often(1))


if __name__ == '__main__':
    last = AtTheEnd()
    print(sys.version.split()[0])
    unittest.main(argv=sys.argv[:1], verbosity=1)
