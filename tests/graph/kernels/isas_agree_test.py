"""Usage: isas_agree_test.py AVAILABLE_ISAS OP_RESULTS

Checks that an op gives the same results under every instruction set: each element is the same up to
1e-5 of the tensor's largest magnitude. OP_RESULTS prints the tensors, see
tests/graph/ops/op_results.cpp.
"""

import math
import os
import subprocess
import sys
import unittest

AVAILABLE_ISAS, OP_RESULTS = sys.argv[1:]
TOLERANCE = 1e-5


def output_of(program, **environment):
    return subprocess.run([program], env={**os.environ, **environment}, check=True,
                          capture_output=True, text=True).stdout


def tensors(text):
    """Returns {name: (type, elements)}."""
    return {name: (dtype, [float(element) for element in elements])
            for name, dtype, *elements in map(str.split, text.splitlines())}


def same(a, b, limit):
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= limit


def agree(one, other):
    (dtype, a), (other_dtype, b) = one, other
    finite = [abs(element) for element in a if math.isfinite(element)]
    limit = TOLERANCE * max(finite, default=0) if dtype == 'f32' else 0
    return (dtype == other_dtype and len(a) == len(b)
            and all(same(x, y, limit) for x, y in zip(a, b)))


class IsasAgree(unittest.TestCase):
    def test_on_every_sample_and_reference_case(self):
        first, *others = output_of(AVAILABLE_ISAS).split()
        expected = tensors(output_of(OP_RESULTS, PENSTOCK_ISA=first))
        self.assertGreater(len(expected), 100)
        for isa in others:
            actual = tensors(output_of(OP_RESULTS, PENSTOCK_ISA=isa))
            self.assertEqual(actual.keys(), expected.keys())
            self.assertEqual([name for name in actual if not agree(actual[name], expected[name])],
                             [], f'{isa} differs from {first}')

    def test_differences_are_noticed(self):
        self.assertTrue(agree(('f32', [1.0, 1e3]), ('f32', [1.009, 1e3])))
        self.assertFalse(agree(('f32', [1.0, 1e3]), ('f32', [1.011, 1e3])))
        self.assertFalse(agree(('f32', [math.inf, 1.0]), ('f32', [1.0, 1.0])))
        self.assertFalse(agree(('f32', [math.nan]), ('f32', [1.0])))
        self.assertTrue(agree(('f32', [math.nan, -math.inf]), ('f32', [math.nan, -math.inf])))
        self.assertFalse(agree(('i64', [100000.0]), ('i64', [100001.0])))
        self.assertFalse(agree(('f32', [1.0]), ('f32', [1.0, 1.0])))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
