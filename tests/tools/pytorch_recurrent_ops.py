"""Computes cases of recurrent layers with PyTorch, for tests/graph/ops/reference_test.cpp.

Usage: pytorch_recurrent_ops.py DIRECTORY

DIRECTORY is tests/data/ops. Each file has one layer and one direction: the inputs, the output, the
last states and the gradients. Lengths and directions are those of PyTorch's packed sequences.
"""

import os
import sys

import numpy
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import safetensors

SAMPLES, STEPS, FEATURES, WIDTH = 5, 4, 3, 6
LENGTHS = [4, 1, 3, 4, 2]
CASES = {
    'lstm_plain': {},
    'lstm_initial': {'initial': True},
    'lstm_lengths': {'lengths': True, 'initial': True},
    'lstm_lengths_reverse': {'lengths': True, 'reverse': True, 'initial': True},
    'lstm_one_step': {'steps': 1, 'bias': False},
    'gru_plain': {'initial': True},
    'gru_lengths': {'lengths': True},
    'gru_lengths_reverse': {'lengths': True, 'reverse': True, 'initial': True},
    'gru_one_step': {'steps': 1, 'bias': False},
    'rnn_plain': {'initial': True},
    'rnn_relu': {'relu': True, 'bias': False},
    'rnn_lengths_reverse': {'lengths': True, 'reverse': True, 'initial': True},
}


def module_of(name, options):
    kind = name.split('_', maxsplit=1)[0]
    nonlinearity = {'nonlinearity': 'relu'} if options.get('relu') else {}
    return kind, getattr(torch.nn, kind.upper())(
        FEATURES, WIDTH, batch_first=True, bias=options.get('bias', True),
        bidirectional=options.get('reverse', False), **nonlinearity).double()


def leaf(shape):
    return torch.randn(shape, dtype=torch.float64).requires_grad_()


def computed(module, x, states, lengths):
    """Returns the output [N,T,D*H] and the last states, each [D,N,H]."""
    initial = None if not states else tuple(states) if len(states) == 2 else states[0]
    if lengths is not None:
        x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    out, last = module(x, initial)
    if lengths is not None:
        out, _ = pad_packed_sequence(out, batch_first=True)
    return out, last if isinstance(last, tuple) else (last,)


def case(name, options):
    kind, module = module_of(name, options)
    reverse = options.get('reverse', False)
    x = leaf((SAMPLES, options.get('steps', STEPS), FEATURES))
    names = ['h', 'c'] if kind == 'lstm' else ['h']
    own = {state: leaf((SAMPLES, WIDTH)) for state in names} if options.get('initial') else {}
    zeros = torch.zeros(SAMPLES, WIDTH, dtype=torch.float64)
    states = [torch.stack([zeros, state] if reverse else [state]) for state in own.values()]
    lengths = torch.tensor(LENGTHS) if options.get('lengths') else None
    out, last = computed(module, x, states, lengths)
    out = out[..., WIDTH:] if reverse else out
    gradient = torch.randn_like(out)
    out.backward(gradient)
    suffix = '_l0_reverse' if reverse else '_l0'
    leaves = {'x': x, **own}
    for parameter, tensor in module.named_parameters():
        if parameter.endswith(suffix):
            leaves[parameter[:-len(suffix)]] = tensor
    tensors = {'out': out, 'grad.out': gradient}
    tensors |= {f'out.{state}': value[-1] for state, value in zip(names, last)}
    for leaf_name, tensor in leaves.items():
        tensors |= {'in.' + leaf_name: tensor, 'grad.' + leaf_name: tensor.grad}
    arrays = {key: tensor.detach().numpy().astype(numpy.float32)
              for key, tensor in tensors.items()}
    if lengths is not None:
        arrays['in.lengths'] = lengths.numpy()
    metadata = {'op': name, 'reverse': str(int(reverse)),
                'nonlinearity': 'relu' if options.get('relu') else 'tanh'}
    return arrays, metadata


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    for number, (name, options) in enumerate(CASES.items()):
        torch.manual_seed(number)
        safetensors.write(os.path.join(sys.argv[1], name + '.safetensors'), *case(name, options))


if __name__ == '__main__':
    main()
