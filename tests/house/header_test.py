"""Usage: header_test.py INCLUDE_DIR COMPILER...

Checks that every public header compiles alone, included twice, with warnings as errors and without
any option that the library itself was built with.
"""

import subprocess
import sys
import unittest
from pathlib import Path

DIRECTORY, *COMPILER = sys.argv[1:]
# One header is for hosts that have Eigen, which Debian keeps in this folder.
EIGEN = ['-isystem', '/usr/include/eigen3']
HEADERS = sorted(path.relative_to(DIRECTORY) for path in Path(DIRECTORY).rglob('*.hpp'))


def compile_alone(text):
    return subprocess.run(
        [*COMPILER, '-std=c++20', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only',
         *EIGEN, '-I', DIRECTORY, '-x', 'c++', '-'],
        input=text, capture_output=True, text=True, check=False)


class PublicHeaders(unittest.TestCase):
    def test_headers_were_found(self):
        self.assertIn(Path('penstock/penstock.hpp'), HEADERS)

    def test_each_compiles_alone(self):
        for header in HEADERS:
            with self.subTest(header=str(header)):
                compiled = compile_alone(f'#include <{header}>\n' * 2)
                self.assertEqual(compiled.returncode, 0, compiled.stderr)

    def test_a_missing_include_is_noticed(self):
        self.assertNotEqual(compile_alone('std::vector<int> v;').returncode, 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
