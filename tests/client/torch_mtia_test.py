"""torch.mtia itself, in a stock PyTorch with the extension, on the simulated MTIA driver under the library.

    torch_mtia_test.py BUILD_DIRECTORY SOURCE_ROOT REASON [TEST...]
REASON: why the extension is not built; empty: it is.
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, SOURCE, REASON = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
START = 'import torch\nimport tidemark.torch_mtia\n'


class TorchMtia(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix='tidemark-test.'))
        self.addCleanup(shutil.rmtree, self.directory, True)

    def run_script(self, script, start=START, **more):
        environment = {'PATH': f'{BUILD}/bin:/usr/local/bin:/usr/bin:/bin', 'HOME': str(self.directory), 'LANG': 'C.UTF-8',
                       'PYTHONPATH': str(SOURCE / 'client/python'), 'PYTHONDONTWRITEBYTECODE': '1', 'TIDEMARK_KEEP': 'none',
                       'TIDEMARK_DIR': str(self.directory), 'TIDEMARK_LOG': 'error', 'TORCH_DEVICE_BACKEND_AUTOLOAD': '0', **more}
        command = [BUILD / 'bin/tidemark', 'run', '-q', '--simulate', 'mtia', '--', sys.executable, '-c', start + script]
        return subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=280)

    def assert_prints(self, wanted, script, **more):
        done = self.run_script(script, **more)
        self.assertEqual((wanted, 0), (done.stdout, done.returncode), done.stderr)

    def test_the_guides_flow(self):
        self.assert_prints('uninitialised {} 0\ntwo 8388608 8388608\none 4194304 8388608\nreset 4194304 4194304\nempty 0 0\n', '''
print("uninitialised", torch.mtia.memory_stats(), torch.mtia.memory_allocated())
warm = torch.empty(64 << 20, dtype=torch.uint8, device="mtia")
del warm
torch.mtia.reset_peak_memory_stats()
a = torch.zeros(1024, 1024, device="mtia")
b = torch.empty(1024, 1024, device="mtia:0")
print("two", torch.mtia.memory_allocated(), torch.mtia.max_memory_allocated())
del a
print("one", torch.mtia.memory_allocated(), torch.mtia.max_memory_allocated())
torch.mtia.reset_peak_memory_stats()
print("reset", torch.mtia.memory_allocated(), torch.mtia.max_memory_allocated())
del b
torch.mtia.empty_cache()
print("empty", torch.mtia.memory_allocated(), torch.accelerator.memory_reserved())
''')

    def test_torch_accelerator_has_the_same_numbers(self):
        self.assert_prints('mtia True 2\n122 True\n4194304 4194304 20971520\n(0, 4194304) 1\nTrue\n', '''
import tidemark
print(torch.accelerator.current_accelerator(), torch.mtia.is_available(), torch.mtia.device_count())
a = torch.empty(1024, 1024, device="mtia:1")
stats = torch.accelerator.memory_stats(1)
print(len(stats), dict(stats) == dict(tidemark.accelerator.memory_stats(1)))
print(torch.accelerator.memory_allocated(1), torch.accelerator.max_memory_allocated(1), torch.accelerator.memory_reserved(1))
torch.accelerator.reset_accumulated_memory_stats(1)
stats = torch.accelerator.memory_stats(1)
print((stats["allocation.all.allocated"], stats["allocated_bytes.all.current"]), stats["allocation.all.current"])
print(torch.mtia.memory_stats(1)["dram"]["allocated_bytes"] == tidemark.mtia.memory_allocated(1))
''')

    def test_history_snapshots_and_observers(self):
        self.assert_prints("['segment_alloc', 'alloc']\nNone b'\\x80\\x02'\nobserved 0 1099511627776 4194304\nOutOfMemoryError\n", '''
torch.mtia.init()
torch.mtia.record_memory_history()
a = torch.empty(1024, 1024, device="mtia")
print([event["action"] for event in torch.mtia.snapshot()["device_traces"][0]])
print(tidemark.torch_mtia._snapshot("a file"), open("a file", "rb").read(2))  # as PyTorch's profiler asks the hook
def observe(device, size, total, free): print("observed", device, size, torch.mtia.memory_allocated())
torch.mtia.attach_out_of_memory_observer(observe)
try:
    torch.empty(1 << 40, dtype=torch.uint8, device="mtia")
except torch.OutOfMemoryError as error:
    print(type(error).__name__)
torch.mtia.record_memory_history(None)
''')

    def test_says_when_torch_was_asked_too_early(self):
        done = self.run_script('', start='import torch\ntorch.accelerator.is_available()\nimport tidemark.torch_mtia\n')
        self.assertIn('ImportError: torch was asked for an accelerator before tidemark.torch_mtia was imported', done.stderr)


if __name__ == '__main__':
    if REASON:
        print(f'skipped: {REASON}')
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
