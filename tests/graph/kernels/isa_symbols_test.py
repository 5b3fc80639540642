"""Usage: isa_symbols_test.py NM ISA=LIBRARY...

Checks that objects that are compiled for one instruction set share no symbol with other objects.
The linker keeps one of several definitions of a symbol, so that a CPU could run a definition whose
instructions it lacks. Therefore every symbol that may be merged (weak or unique) has to be in the
instruction set's own namespace.
"""

import re
import subprocess
import sys
import unittest

NM, *LIBRARIES = sys.argv[1:]
MERGED = re.compile(r'^[0-9a-f]* *[VWvwu] (.+)$', re.MULTILINE)


def foreign(symbols, isa):
    """Returns the names listed by `nm` that may be merged and are not the instruction set's own."""
    return [name for name in MERGED.findall(symbols) if not re.search(rf'\b\w*{isa}::', name)]


def symbols_of(library):
    return subprocess.run([NM, '--demangle', library],
                          check=True, capture_output=True, text=True).stdout


class IsaSymbols(unittest.TestCase):
    def test_nothing_is_merged_across_instruction_sets(self):
        for argument in LIBRARIES:
            isa, library = argument.split('=', 1)
            with self.subTest(library=library):
                symbols = symbols_of(library)
                self.assertIn(f'penstock::graph::{isa}::', symbols)
                self.assertEqual(foreign(symbols, isa), [])

    def test_foreign_symbols_are_found(self):
        listing = '''
0000000000000000 W float const& std::max<float>(float const&, float const&)
                 w __gmon_start__
0000000000000000 u std::locale::id
0000000000000010 W penstock::graph::avx2::load(float const*)
0000000000000010 T penstock::graph::choose_isa(char const*)
                 U std::terminate()
'''
        self.assertEqual(len(foreign(listing, 'avx2')), 3)
        self.assertEqual(len(foreign(listing, 'avx512')), 4)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
