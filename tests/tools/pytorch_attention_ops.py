"""Computes cases of attention and rotary embedding with PyTorch, for
tests/graph/ops/reference_test.cpp.

Usage: pytorch_attention_ops.py DIRECTORY

DIRECTORY is tests/data/ops. Each file has the inputs of one case, the output and the gradients. The
attentions are written out, because PyTorch's own has NaN where masks leave no key to a query; here
the output is 0 there.
"""

import math
import os
import sys

import numpy
import torch

import safetensors

SAMPLES, QUERIES, KEYS, WIDTH = 3, 5, 7, 4


def leaf(*shape):
    return torch.randn(shape, dtype=torch.float64).requires_grad_()


def attention(q, k, v, heads, hidden, added):
    """Returns the attention of q, k and v, which have the features of heads side by side."""
    def split(x):
        x = x.unflatten(-1, (-1, WIDTH)).transpose(1, 2)
        return x.repeat_interleave(heads // x.shape[1], 1)
    scores = split(q) @ split(k).transpose(-1, -2) / math.sqrt(WIDTH) + added
    none = hidden.all(-1, keepdim=True)
    shares = scores.masked_fill(hidden, -math.inf).masked_fill(none, 0).softmax(-1)
    return (shares.masked_fill(none, 0) @ split(v)).transpose(1, 2).flatten(-2)


def attention_masks():
    """Two heads share one of keys and values. The last sample has no key, and query 3 has none."""
    leaves = {'q': leaf(SAMPLES, QUERIES, 4 * WIDTH), 'k': leaf(SAMPLES, KEYS, 2 * WIDTH),
              'v': leaf(SAMPLES, KEYS, 2 * WIDTH), 'attn_mask': leaf(QUERIES, KEYS)}
    with torch.no_grad():
        leaves['attn_mask'][3] = -math.inf
        leaves['attn_mask'][1, 2:5] = -math.inf
    padding = torch.arange(KEYS) >= torch.tensor([[KEYS], [4], [0]])
    hidden = padding[:, None, None] | (leaves['attn_mask'] == -math.inf)
    out = attention(leaves['q'], leaves['k'], leaves['v'], 4, hidden, leaves['attn_mask'])
    return out, leaves, {'key_padding_mask': padding.float().numpy()}, {'heads': 4, 'kv_heads': 2}


def attention_packed_padding():
    """All heads share one of keys and values. The padding comes first in one sample."""
    leaves = {'qkv': leaf(SAMPLES, KEYS, 5 * WIDTH)}
    q, k, v = leaves['qkv'].split([3 * WIDTH, WIDTH, WIDTH], -1)
    padding = torch.zeros(SAMPLES, KEYS, dtype=torch.bool)
    padding[0, :3], padding[2, 5:] = True, True
    later = torch.ones(KEYS, KEYS, dtype=torch.bool).triu(1)
    out = attention(q, k, v, 3, padding[:, None, None] | later, 0)
    return (out, leaves, {'key_padding_mask': padding.float().numpy()},
            {'heads': 3, 'kv_heads': 1, 'causal': 1})


def angles(features, base):
    rates = 1 / base ** (torch.arange(0, features, 2, dtype=torch.float64) / features)
    return torch.outer(torch.arange(KEYS, dtype=torch.float64), rates)


def rotary_embedding():
    """This is the form of LLaMA: x·cos + rotate_half(x)·sin."""
    heads, features = 3, 6
    x = leaf(SAMPLES, KEYS, heads * features)
    of_all = torch.cat([angles(features, 10000)] * 2, -1)[:, None]
    split = x.unflatten(-1, (heads, features))
    a, b = split.chunk(2, -1)
    turned = split * of_all.cos() + torch.cat([-b, a], -1) * of_all.sin()
    return turned.flatten(-2), {'x': x}, {}, {'heads': heads}


def rotary_embedding_interleaved():
    """Pairs of neighbours are complex numbers. Two features of each head are not rotated."""
    heads, features, rest = 2, 4, 2
    x = leaf(SAMPLES, KEYS, heads * (features + rest))
    turned, kept = x.unflatten(-1, (heads, -1)).split([features, rest], -1)
    turns = torch.polar(torch.ones(KEYS, 1, features // 2, dtype=torch.float64),
                        angles(features, 100)[:, None])
    numbers = torch.view_as_complex(turned.unflatten(-1, (-1, 2)).contiguous()) * turns
    out = torch.cat([torch.view_as_real(numbers).flatten(-2), kept], -1).flatten(-2)
    return out, {'x': x}, {}, {'heads': heads, 'features': features, 'interleaved': 1, 'base': 100}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    cases = [attention_masks, attention_packed_padding, rotary_embedding,
             rotary_embedding_interleaved]
    for number, case in enumerate(cases):
        torch.manual_seed(number)
        out, leaves, arrays, attributes = case()
        gradient = torch.randn_like(out)
        out.backward(gradient)
        tensors = {'out': out, 'grad.out': gradient}
        for name, tensor in leaves.items():
            tensors |= {'in.' + name: tensor, 'grad.' + name: tensor.grad}
        arrays = {'in.' + name: array for name, array in arrays.items()}
        arrays |= {name: tensor.detach().numpy().astype(numpy.float32)
                   for name, tensor in tensors.items()}
        metadata = {'op': case.__name__} | {name: str(n) for name, n in attributes.items()}
        safetensors.write(os.path.join(sys.argv[1], case.__name__ + '.safetensors'), arrays,
                          metadata)


if __name__ == '__main__':
    main()
