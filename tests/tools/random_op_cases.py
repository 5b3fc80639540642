"""Compares random cases of Penstock's ops and losses with PyTorch in double precision.

Usage: random_op_cases.py EVALUATOR [--cases N] [--seed S]
       random_op_cases.py EVALUATOR [--cases N] [--seed S] --store FILE

EVALUATOR is tests/tools/op_evaluator of a build directory. The first form reports every case that
differs, with the seed that draws this case alone (`--cases 1 --seed S`), and ends with status 1 if
a case differs. The second form writes a few small cases of each op to FILE, with what PyTorch
computes and how far rounding may lead away from that. tests/data/op_cases.safetensors is made with
`--cases 16000`.

Rounding may change an element by a few units in its last place, and by as much as the element
changes if the inputs change in their last bits: the computation is repeated with such inputs.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch

import safetensors
from loss_case_draws import LOSSES
from op_case_draws import OPS, Draws

EPS = 2.0 ** -24
PERTURBATIONS = 3
# An element may differ by this many units in its last place, and by this many times what the
# perturbations change. Ops that add up many numbers one after the other have a larger factor.
UNITS, TIMES = 64, 64
TIMES_OF = {'conv2d': 128, 'conv2d_lanes': 128, 'conv2d_pool_relu_lanes': 128,
            'conv_transpose2d': 128, 'depthwise_conv2d_lanes': 128, 'embedding': 256,
            'linear': 128, 'matmul': 128, 'pointwise_conv2d_lanes': 128}
# An element may also differ by this many units of the numbers whose difference it is.
DIFFERENCE_UNITS = 64
# These ops approximate a function to an absolute error, or cancel inside. Their results may differ
# by this part of the largest magnitude. Cases that are not perturbed may differ by SHARP_FLOOR.
FLOOR = {'gelu': 1e-6, 'gelu_tanh': 1e-6, 'silu': 3e-7, 'mish': 3e-7, 'ctc_loss': 1e-6}
SHARP_FLOOR = 1e-5
# In these losses, PyTorch itself loses up to DOUBLE in differences of numbers near 1. No difference
# that is smaller than NOTHING counts in any case.
APPROXIMATE_IN_PYTORCH = {'binary_cross_entropy_with_logits', 'soft_margin_loss',
                          'multilabel_soft_margin_loss'}
DOUBLE, NOTHING = 4e-16, 1e-37
# A stored case has at most this many elements, and an op has at most this many cases.
STORED_ELEMENTS, STORED_OF_EACH = 300, 2
LARGEST = float(numpy.finfo(numpy.float32).max)


def draw(seed):
    draws = Draws(seed)
    # Losses are drawn as often as ops.
    return draws.one_of(LOSSES if draws.coin() else OPS)(draws), draws


def expected_of(case, inputs, gradient):
    """Returns {name: tensor} of results and gradients, computed by PyTorch from arrays."""
    tensors = {name: torch.tensor(array) for name, array in inputs.items()}
    for name in case.gradients:
        tensors[name].requires_grad_()
    results = case.torch(tensors)
    if gradient is None:
        return {name: result.detach().numpy() for name, result in results.items()}
    first = results[case.results[0]]
    if case.gradients:
        first.backward(torch.tensor(gradient).reshape(first.shape))
    found = {name: result.detach().numpy() for name, result in results.items()}
    for name in case.gradients:
        own = tensors[name].grad
        found['gradient.' + name] = (
            own.numpy() if own is not None else numpy.zeros(inputs[name].shape))
    return found


def wide(inputs):
    return {name: array.astype(numpy.float64) if array.dtype == numpy.float32 else array
            for name, array in inputs.items()}


def perturbed(array, random):
    if array.dtype != numpy.float64:
        return array
    return array * (1 + EPS * random.uniform(-1, 1, array.shape))


def allowed_of(case, inputs, gradient, expected, random):
    """Returns how far each element may be from what is expected."""
    spread = {name: numpy.zeros(array.shape) for name, array in expected.items()}
    with numpy.errstate(invalid='ignore'):
        for _ in range(0 if case.sharp else PERTURBATIONS):
            other = expected_of(case, {n: perturbed(a, random) for n, a in inputs.items()},
                                perturbed(gradient, random))
            for name, array in expected.items():
                change = numpy.abs(other[name] - array)
                spread[name] = numpy.fmax(spread[name], numpy.nan_to_num(change, posinf=0))
    allowed = {}
    for name, array in expected.items():
        finite = numpy.abs(array[numpy.isfinite(array)])
        largest = finite.max(initial=0)
        floor = SHARP_FLOOR if case.sharp else FLOOR.get(case.op, 0)
        minuend = (case.amplification * numpy.abs(gradient).max(initial=0)
                   if name.startswith('gradient.') else case.offset)
        times = TIMES_OF.get(case.op, TIMES)
        allowed[name] = (UNITS * EPS * numpy.nan_to_num(numpy.abs(array), posinf=0)
                         + times * spread[name] + floor * largest
                         + DIFFERENCE_UNITS * EPS * minuend
                         + (DOUBLE if case.op in APPROXIMATE_IN_PYTORCH else NOTHING))
    return allowed


def compared(actual, expected, allowed):
    """Returns what is wrong with a tensor, or None."""
    if actual.size != expected.size:
        return f'shape {actual.shape}, expected {expected.shape}'
    actual = actual.reshape(expected.shape).astype(numpy.float64)
    # Where a number is larger than any float, an infinity is expected.
    infinite = numpy.abs(expected) > LARGEST
    as_float = numpy.where(infinite, numpy.sign(expected) * numpy.inf, expected)
    with numpy.errstate(invalid='ignore'):
        same = (actual == as_float) | (numpy.isnan(actual) & numpy.isnan(as_float))
        close = numpy.abs(actual - expected) <= allowed
    wrong = ~(same | close)
    if not wrong.any():
        return None
    at = tuple(int(i[0]) for i in numpy.nonzero(wrong)) if wrong.ndim else ()
    return (f'{int(wrong.sum())} of {wrong.size} elements, the first at {list(at)}: '
            f'{actual[at]!r}, expected {expected[at]!r} within {allowed[at]:.3g}')


class Drawn:
    """A Drawn is a case with everything that is needed to judge a result."""

    def __init__(self, seed):
        self.seed = seed
        self.case, draws = draw(seed)
        self.inputs = {name: numpy.asarray(array) for name, array in self.case.inputs.items()}
        inputs = wide(self.inputs)
        shape = expected_of(self.case, inputs, None)[self.case.results[0]].shape
        self.gradient = draws.tensor(shape, 'normal')
        gradient = self.gradient.astype(numpy.float64)
        self.expected = expected_of(self.case, inputs, gradient)
        self.allowed = allowed_of(self.case, inputs, gradient, self.expected, draws.random)

    def tensors(self):
        return {f'{self.seed}.{name}': array for name, array in
                {**self.inputs, 'gradient': self.gradient}.items()}

    def description(self):
        return json.dumps(self.case.description())


def evaluate(evaluator, drawn):
    """Returns (tensors, refusals) that the evaluator gives for a list of cases."""
    with tempfile.TemporaryDirectory() as directory:
        given, results = os.path.join(directory, 'in'), os.path.join(directory, 'out')
        safetensors.write(given, {name: array for one in drawn for name, array in
                                  one.tensors().items()},
                          {str(one.seed): one.description() for one in drawn})
        subprocess.run([evaluator, given, results], check=True)
        return safetensors.read(results)


def complaints(one, tensors, refusals):
    if str(one.seed) in refusals:
        return ['refused: ' + refusals[str(one.seed)]]
    found = []
    for name, expected in one.expected.items():
        wrong = compared(tensors[f'{one.seed}.{name}'], expected, one.allowed[name])
        if wrong:
            found.append(f'{name}: {wrong}')
    return found


def check(evaluator, seeds):
    """Reports each case that differs, and returns how many differ."""
    counts, differing = collections.Counter(), collections.Counter()
    for begin in range(0, len(seeds), 500):
        drawn = [Drawn(seed) for seed in seeds[begin:begin + 500]]
        tensors, refusals = evaluate(evaluator, drawn)
        for one in drawn:
            counts[one.case.op] += 1
            found = complaints(one, tensors, refusals)
            differing[one.case.op] += bool(found)
            for text in found:
                print(f'seed {one.seed}, {one.case.op} {one.case.steps[-1]["attributes"]}: {text}')
    for op, count in sorted(counts.items()):
        print(f'{op}: {count} cases, {differing[op]} differ')
    total = sum(differing.values())
    print(f'{sum(counts.values())} cases, {total} differ')
    return total


def store(path, seeds):
    """Writes the first small cases of every op. "SEED.expected.NAME" has the elements that a result
    is expected to have, and how far each of them may be away."""
    tensors, metadata, stored = {}, {}, collections.Counter()
    for one in map(Drawn, seeds):
        size = sum(array.size for array in {**one.inputs, **one.expected}.values())
        if size > STORED_ELEMENTS or stored[one.case.op] == STORED_OF_EACH:
            continue
        stored[one.case.op] += 1
        metadata[str(one.seed)] = one.description()
        tensors.update(one.tensors())
        for name, expected in one.expected.items():
            with numpy.errstate(over='ignore'):
                both = numpy.stack([expected.ravel(), one.allowed[name].ravel()])
                tensors[f'{one.seed}.expected.{name}'] = both.astype(numpy.float32)
    safetensors.write(path, tensors, metadata)
    print(f'{len(metadata)} cases of {len(stored)} ops')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('evaluator')
    parser.add_argument('--cases', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--store')
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    # KL divergence's "mean" is meant as it is, although PyTorch warns of it.
    warnings.simplefilter('ignore')
    seeds = list(range(arguments.seed, arguments.seed + arguments.cases))
    if arguments.store:
        store(arguments.store, seeds)
        return 0
    return 1 if check(arguments.evaluator, seeds) else 0


if __name__ == '__main__':
    sys.exit(main())
