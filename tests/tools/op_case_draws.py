"""This module draws random cases of ops, each with the same computation in PyTorch."""

import math

import numpy
import torch
from torch.nn import functional

# The reductions of Penstock's losses have PyTorch's names.
REDUCTIONS = ('mean', 'sum', 'none')


class Case:
    """A Case says what Penstock computes, in `steps` that name values, and what PyTorch computes:
    `torch` takes a dictionary of the input tensors and returns one of the results, in the order of
    `results`."""

    def __init__(self, op, inputs, torch, attributes=None, steps=None, results=('out',),
                 gradients=None, sharp=False, amplification=0.0, offset=0.0):
        self.op, self.inputs, self.torch, self.results = op, inputs, torch, results
        self.steps = steps or [step(op, list(inputs), list(results), attributes)]
        self.gradients = gradients if gradients is not None else [
            name for name, tensor in inputs.items() if tensor.dtype == numpy.float32]
        # If this is true, elements lie on kinks on purpose, where a perturbation would jump.
        self.sharp = sharp
        # A gradient is the difference of numbers that are this many times as large as the largest
        # incoming gradient. Rounding is relative to these numbers where the difference itself is
        # small.
        self.amplification = amplification
        self.offset = offset  # A result is the difference of numbers of this size.

    def description(self):
        return {'steps': self.steps, 'results': list(self.results), 'gradients': self.gradients}


def step(op, inputs, outputs, attributes=None):
    return {'op': op, 'inputs': inputs, 'outputs': outputs, 'attributes': attributes or {}}


class Draws:
    """A Draws draws numbers and tensors from a seed."""

    def __init__(self, seed):
        self.random = numpy.random.Generator(numpy.random.PCG64(seed))
        # If this is true, all tensors of a case are sharp; otherwise none is.
        self.sharp = self.below(8) == 0

    def below(self, limit):
        return int(self.random.integers(limit))

    def one_of(self, choices):
        return choices[self.below(len(choices))]

    def coin(self):
        return self.below(2) == 0

    def size(self, limit=20):
        """Returns a size, which often is 1 or next to a multiple of a vector's length."""
        any_size = 1 + self.below(limit)
        return self.one_of([1, 2, 3, any_size, any_size, 7, 9, 15, 16, 17])

    def shape(self, rank):
        return tuple(self.size(12 if rank > 2 else 40) for _ in range(rank))

    def any_shape(self):
        return self.shape(1 + self.below(4))

    def tensor(self, shape, kind=None):
        """Returns a tensor with f32 elements of one of the kinds."""
        normal = self.random.standard_normal(shape)
        smooth = ['normal', 'normal', 'normal', 'wide', 'large', 'tiny', 'shifted']
        kind = kind or self.one_of(['ties', 'ties', 'equal'] if self.sharp else smooth)
        if kind == 'wide':
            normal = numpy.sign(normal) * 10 ** self.random.uniform(-6, 1.5, shape)
        elif kind == 'large':
            normal = normal * self.one_of([10, 30])
        elif kind == 'tiny':
            normal = normal * 1e-6
        elif kind == 'shifted':
            normal = normal + self.one_of([-20, 20])
        elif kind == 'ties':
            normal = numpy.round(2 * normal) / 2
        elif kind == 'equal':
            normal = numpy.full(shape, self.one_of([0.0, 1.0, -0.5]))
        return normal.astype(numpy.float32)

    def smooth(self, shape):
        return self.tensor(shape, self.one_of(['normal', 'normal', 'wide', 'large', 'tiny']))

    def uniform(self, shape, low, high):
        return self.random.uniform(low, high, shape).astype(numpy.float32)

    def signs(self, shape):
        return (2 * self.random.integers(0, 2, shape) - 1).astype(numpy.float32)

    def labels(self, shape, limit):
        return self.random.integers(0, limit, shape)


def with_special(draws, x, values=(math.nan, math.inf, -math.inf, 3e38, -3e38)):
    """Returns `x`. In some draws, some of its elements are replaced by some of `values`."""
    if draws.below(6) == 0:
        flat = x.reshape(-1)
        for value in values:
            if draws.coin():
                flat[draws.below(flat.size)] = value
    return x


def activation(draws):
    name = draws.one_of(['relu', 'sigmoid', 'tanh', 'gelu', 'silu', 'leaky_relu', 'identity'])
    x = with_special(draws, draws.tensor(draws.any_shape()))
    slope = draws.one_of([0.0, 0.01, 0.3, 1.0, -0.5])
    attributes = {'negative_slope': slope} if name == 'leaky_relu' else {}
    function = {'relu': functional.relu, 'sigmoid': torch.sigmoid, 'tanh': torch.tanh,
                'gelu': functional.gelu, 'silu': functional.silu, 'identity': lambda x: x * 1,
                'leaky_relu': lambda x: functional.leaky_relu(x, slope)}[name]
    return Case(name, {'x': x}, lambda t: {'out': function(t['x'])}, attributes,
                sharp=draws.sharp, amplification=1)


def parametric_activation(draws):
    """Draws an activation that has constants."""
    name = draws.one_of(['elu', 'softplus', 'hardtanh', 'hardshrink', 'softshrink', 'threshold'])
    x = draws.tensor(draws.any_shape())
    # PyTorch 1.13 loses a NaN in the shrinking ones. What the gradients of hardtanh and elu make of
    # a NaN there depends on the position of the element.
    if name not in ('softshrink', 'hardshrink', 'hardtanh', 'elu'):
        x = with_special(draws, x)
    if name == 'elu':
        alpha, scale, input_scale = (draws.one_of([1.0, 0.5, 1.7]) for _ in range(3))
        # PyTorch reaches the third constant by celu only, which computes elu(alpha, 1, 1/alpha).
        attributes = {'alpha': alpha, 'scale': scale, 'input_scale': input_scale}
        function = lambda x: torch.where(x > 0, scale * x, scale * alpha * torch.expm1(
            input_scale * x.clamp(max=0)))
        if draws.coin():
            attributes = {'alpha': alpha}
            function = lambda x: functional.elu(x, alpha)
    elif name == 'softplus':
        beta, threshold = draws.one_of([1.0, 0.5, 3.0]), draws.one_of([20.0, 2.0, 0.0])
        attributes = {'beta': beta, 'threshold': threshold}
        function = lambda x: functional.softplus(x, beta, threshold)
    elif name == 'hardtanh':
        low, high = draws.one_of([(-1.0, 1.0), (0.0, 6.0), (-0.5, 0.5)])
        attributes = {'low': low, 'high': high}
        function = lambda x: functional.hardtanh(x, low, high)
    elif name == 'threshold':
        threshold, value = draws.one_of([0.0, 0.5, -1.0]), draws.one_of([0.0, 7.0])
        attributes = {'threshold': threshold, 'value': value}
        function = lambda x: functional.threshold(x, threshold, value)
    else:
        bound = draws.one_of([0.5, 0.0, 1.0])
        attributes = {'bound': bound}
        function = lambda x: getattr(functional, name)(x, bound)
    return Case(name, {'x': x}, lambda t: {'out': function(t['x'])}, attributes,
                sharp=draws.sharp, amplification=1)


def plain_activation(draws):
    """Draws an activation without constants."""
    name = draws.one_of(['gelu_tanh', 'hardsigmoid', 'hardswish', 'logsigmoid', 'mish', 'softsign'])
    x = with_special(draws, draws.tensor(draws.any_shape()))
    if name == 'hardswish':
        # PyTorch's gradients at 3 and of a NaN depend on the position of the element.
        x[(x == 3) | numpy.isnan(x)] = 2.5
    function = (lambda x: functional.gelu(x, approximate='tanh')) if name == 'gelu_tanh' else (
        getattr(functional, name))
    return Case(name, {'x': x}, lambda t: {'out': function(t['x'])}, sharp=draws.sharp,
                amplification=1)


def prelu(draws):
    shape = draws.any_shape()
    channels = shape[1] if len(shape) > 1 and draws.coin() else 1
    tensors = {'x': draws.tensor(shape), 'weight': draws.tensor((channels,), 'normal')}
    return Case('prelu', tensors, lambda t: {'out': functional.prelu(t['x'], t['weight'])},
                sharp=draws.sharp)


def softmax(draws):
    name = draws.one_of(['softmax', 'log_softmax'])
    x = draws.tensor(draws.any_shape())
    axis = draws.below(2 * x.ndim) - x.ndim
    function = getattr(functional, name)
    return Case(name, {'x': x}, lambda t: {'out': function(t['x'], axis)}, {'axis': axis},
                amplification=1, offset=1 if name == 'log_softmax' else 0)


def elementary(draws):
    name = draws.one_of(['abs', 'exp', 'log', 'sqrt', 'rsqrt', 'reciprocal', 'sin', 'cos', 'erf'])
    shape = draws.any_shape()
    positive = name in ('log', 'sqrt', 'rsqrt', 'reciprocal')
    if positive:
        x = 10 ** draws.uniform(shape, -3, 3)
    else:
        x = draws.tensor(shape, 'wide' if draws.coin() else 'normal')
    special = (math.nan, math.inf) if positive else (math.nan, math.inf, -math.inf)
    x = with_special(draws, x, special)
    return Case(name, {'x': x}, lambda t: {'out': getattr(torch, name)(t['x'])},
                amplification=1, offset=1 if name in ('log', 'sin', 'cos') else 0)


def steps_of_numbers(draws):
    """Draws rounding and signs, which have no gradients."""
    name = draws.one_of(['floor', 'ceil', 'round', 'sign'])
    x = draws.tensor(draws.any_shape(), draws.one_of(['ties', 'normal', 'large']))
    return Case(name, {'x': x}, lambda t: {'out': getattr(torch, name)(t['x'])}, gradients=[])


def power(draws):
    exponent = draws.one_of([0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -2.0, 1.7, -0.3])
    shape = draws.any_shape()
    x = 10 ** draws.uniform(shape, -3, 3)
    if exponent == int(exponent):
        x = x * draws.signs(shape)
    return Case('pow', {'x': x.astype('float32')},
                lambda t: {'out': torch.pow(t['x'], numpy.float64(numpy.float32(exponent)).item())},
                {'exponent': exponent}, amplification=1)


def power_of_values(draws):
    shape = list(draws.any_shape())
    other = [n if draws.below(3) else 1 for n in shape][draws.below(len(shape)):]
    pair = [shape, other] if draws.coin() else [other, shape]
    a, b = 10 ** draws.uniform(pair[0], -1, 1), draws.uniform(pair[1], -3, 3)
    if draws.coin():
        a, b = a * draws.signs(pair[0]), numpy.rint(b)
    elif draws.coin():
        a, b = a * (draws.uniform(pair[0], 0, 1) > 0.3), abs(numpy.rint(b))
    return Case('power', {'a': a.astype('float32'), 'b': b.astype('float32')},
                lambda t: {'out': torch.pow(t['a'], t['b'])},
                gradients=['a'] if (a < 0).any() else ['a', 'b'], amplification=2)


def clamp(draws):
    x = draws.tensor(draws.any_shape(), 'ties' if draws.sharp else 'normal')
    low = draws.one_of([-1.0, -0.5, 0.0])
    return Case('clamp', {'x': x}, lambda t: {'out': torch.clamp(t['x'], low, 1.0)},
                {'low': low, 'high': 1.0}, sharp=draws.sharp)


def extremum(draws):
    name = draws.one_of(['minimum', 'maximum'])
    shape = list(draws.any_shape())
    other = [n if draws.below(3) else 1 for n in shape][draws.below(len(shape)):]
    pair = [shape, other] if draws.coin() else [other, shape]
    return Case(name, {'a': draws.tensor(pair[0]), 'b': draws.tensor(pair[1])},
                lambda t: {'out': getattr(torch, name)(t['a'], t['b'])}, sharp=draws.sharp)


def comparison(draws):
    name, function = draws.one_of([('equal', torch.eq), ('less', torch.lt),
                                   ('less_equal', torch.le)])
    shape = list(draws.any_shape())
    other = [n if draws.below(3) else 1 for n in shape][draws.below(len(shape)):]
    return Case(name, {'a': draws.tensor(shape, 'ties'), 'b': draws.tensor(other, 'ties')},
                lambda t: {'out': function(t['a'], t['b']).double()}, gradients=[])


def reduction(draws):
    name, function = draws.one_of([('sum', torch.sum), ('mean', torch.mean), ('amax', torch.amax),
                                   ('amin', torch.amin)])
    shape = draws.any_shape()
    axes = [axis - len(shape) * draws.below(2) for axis in range(len(shape)) if draws.coin()]
    keep = draws.coin()
    x = draws.tensor(shape, 'ties' if draws.sharp else draws.one_of(['normal', 'wide']))
    extremum = name in ('amax', 'amin')

    def reduced(t):
        if axes:
            return {'out': function(t['x'], axes, keepdim=keep)}
        return {'out': t['x'] * 1}

    return Case(name, {'x': x}, reduced, {'axes': axes, 'keep': int(keep)},
                sharp=draws.sharp and extremum)


def where(draws):
    shape = list(draws.any_shape())
    shapes = [[n if draws.below(3) else 1 for n in shape][draws.below(len(shape)):]
              for _ in range(2)] + [shape]
    condition = (draws.tensor(shapes[0], 'normal') > 0).astype('float32')
    return Case('where', {'condition': condition, 'a': draws.tensor(shapes[1]),
                          'b': draws.tensor(shapes[2])},
                lambda t: {'out': torch.where(t['condition'] != 0, t['a'], t['b'])},
                gradients=['a', 'b'])


def arithmetic(draws):
    name = draws.one_of(['add', 'sub', 'mul'])
    shape = list(draws.any_shape())
    other = [n if draws.below(3) else 1 for n in shape][draws.below(len(shape)):]
    pair = [shape, other] if draws.coin() else [other, shape]
    function = {'add': torch.add, 'sub': torch.sub, 'mul': torch.mul}[name]
    return Case(name, {'a': draws.tensor(pair[0]), 'b': draws.tensor(pair[1])},
                lambda t: {'out': function(t['a'], t['b'])})


def quotient(draws):
    shape = list(draws.any_shape())
    other = [n if draws.below(3) else 1 for n in shape][draws.below(len(shape)):]
    pair = [shape, other] if draws.coin() else [other, shape]
    divisor = 10 ** draws.uniform(pair[1], -2, 2) * draws.signs(pair[1])
    return Case('div', {'a': draws.tensor(pair[0]), 'b': divisor.astype('float32')},
                lambda t: {'out': t['a'] / t['b']})


def clipped_log(draws):
    low, high = draws.one_of([(1e-7, 1 - 1e-7), (0.3, 0.8)])
    x = draws.uniform(draws.any_shape(), 0, 1)
    return Case('clipped_log', {'x': x}, lambda t: {'out': t['x'].clamp(low, high).log()},
                {'low': low, 'high': high}, offset=1)


def scale(draws):
    factor = draws.one_of([0.0, 1.0, -2.0, 0.1, 1e-3])
    return Case('scale', {'x': draws.tensor(draws.any_shape())},
                lambda t: {'out': t['x'] * factor}, {'factor': factor})


def attention_of_heads(draws):
    """Draws an attention, in which several heads of queries may share one of keys and values, and
    which may have masks. PyTorch would make NaN where the masks leave no key to a query."""
    samples = tuple(1 + draws.below(3) for _ in range(1 + draws.below(2)))
    kv_heads, group = 1 + draws.below(3), draws.one_of([1, 1, 2, 3])
    heads, width, value_width = kv_heads * group, draws.size(20), draws.size(20)
    queries = draws.size(20) if draws.below(4) else 60 + draws.below(80)
    causal = draws.coin()
    keys = queries if causal else draws.size(20)
    scale = draws.one_of([0.0, 0.0, 0.5])
    packed = causal and draws.coin()
    attributes = {'heads': heads, 'causal': int(causal), 'scale': scale}
    if group > 1:
        attributes['kv_heads'] = kv_heads
    if packed:
        tensors = {'qkv': draws.tensor(samples + (queries, (heads + 2 * kv_heads) * width),
                                       'normal')}
    else:
        tensors = {'q': draws.tensor(samples + (queries, heads * width), 'normal'),
                   'k': draws.tensor(samples + (keys, kv_heads * width), 'normal'),
                   'v': draws.tensor(samples + (keys, kv_heads * value_width), 'normal')}
    if draws.coin():
        hidden = draws.labels((samples[0], keys), draws.one_of([2, 2, 3]))
        tensors['padding'] = hidden.astype(numpy.float32)
        attributes['key_padding_mask'] = 1
    if draws.coin():
        mask = draws.tensor((queries, keys), 'normal')
        mask[draws.random.random(mask.shape) < draws.one_of([0, 0.3])] = -math.inf
        tensors['mask'] = mask
        attributes['attn_mask'] = 1

    def split(x, count):
        x = x.unflatten(-1, (count, -1)).transpose(-2, -3)
        return x.repeat_interleave(heads // count, -3)

    def function(t):
        if packed:
            parts = [heads * width, kv_heads * width, kv_heads * width]
            q, k, v = t['qkv'].split(parts, -1)
        else:
            q, k, v = t['q'], t['k'], t['v']
        scores = split(q, heads) @ split(k, kv_heads).transpose(-1, -2)
        scores = scores * (scale or 1 / math.sqrt(width))
        hidden = torch.zeros(queries, keys, dtype=torch.bool)
        if causal:
            hidden = torch.ones(queries, keys, dtype=torch.bool).triu(1)
        if 'mask' in t:
            hidden = hidden | (t['mask'] == -math.inf)
            scores = scores + t['mask']
        if 'padding' in t:
            padding = t['padding'].detach() != 0
            hidden = hidden | padding.reshape((samples[0],) + (1,) * (len(samples) + 1) + (keys,))
        none = hidden.all(-1, keepdim=True)
        shares = scores.masked_fill(hidden, -math.inf).masked_fill(none, 0).softmax(-1)
        shares = shares.masked_fill(none, 0)
        return {'out': (shares @ split(v, kv_heads)).transpose(-2, -3).flatten(-2)}

    gradients = [name for name in tensors if name != 'padding']
    return Case('attention', tensors, function, attributes, gradients=gradients, amplification=1,
                offset=0.1)


def rotary_embedding(draws):
    samples = tuple(1 + draws.below(3) for _ in range(1 + draws.below(2)))
    heads, positions, pairs = 1 + draws.below(3), draws.size(40), draws.size(20)
    rest = draws.one_of([0, 0, 1, 6])
    base = draws.one_of([10000.0, 10000.0, 500000.0, 10.0])
    interleaved = draws.coin()
    tensors = {'x': draws.smooth(samples + (positions, heads * (2 * pairs + rest)))}
    first = torch.zeros(samples[0], dtype=torch.float64)
    if draws.coin():
        tensors['position'] = draws.labels(samples[:1], 3000)
        first = torch.tensor(tensors['position'], dtype=torch.float64)

    def function(t):
        x = t['x'].unflatten(-1, (heads, -1))
        turned, kept = x.split([2 * pairs, rest], -1)
        rates = base ** (-torch.arange(0, 2 * pairs, 2, dtype=torch.float64) / (2 * pairs))
        places = first[:, None] + torch.arange(positions, dtype=torch.float64)
        angles = (places[..., None] * rates).reshape(
            (samples[0],) + (1,) * (len(samples) - 1) + (positions, 1, pairs))
        cos, sin = angles.cos(), angles.sin()
        if interleaved:
            a, b = turned[..., 0::2], turned[..., 1::2]
            turned = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
        else:
            # This is x·cos + rotate_half(x)·sin, where the halves are (-x2, x1).
            a, b = turned.chunk(2, -1)
            turned = (turned * torch.cat([cos, cos], -1)
                      + torch.cat([-b, a], -1) * torch.cat([sin, sin], -1))
        return {'out': torch.cat([turned, kept], -1).flatten(-2)}

    attributes = {'heads': heads, 'base': base, 'interleaved': int(interleaved)}
    if rest:
        attributes['features'] = 2 * pairs
    if 'position' in tensors:
        attributes['position'] = 1
    return Case('rotary_embedding', tensors, function, attributes, amplification=1)


def linear(draws):
    inputs, outputs = draws.size(70), draws.size(70)
    rows = (draws.size(70),) if draws.coin() else draws.shape(1 + draws.below(3))
    tensors = {'x': draws.smooth(rows + (inputs,)), 'weight': draws.smooth((outputs, inputs))}
    if draws.coin():
        tensors['bias'] = draws.smooth((outputs,))
    return Case('linear', tensors, lambda t: {'out': functional.linear(
        t['x'], t['weight'], t.get('bias'))})


def matmul(draws):
    batch = draws.shape(draws.below(3))
    batches = [batch, batch]
    if draws.coin():
        batches[draws.below(2)] = tuple(
            n if draws.below(3) else 1 for n in batch)[draws.below(len(batch) + 1):]
    n, k, m = draws.size(40), draws.size(40), draws.size(40)
    transposed = draws.coin(), draws.coin()
    a = draws.smooth(batches[0] + ((k, n) if transposed[0] else (n, k)))
    b = draws.smooth(batches[1] + ((m, k) if transposed[1] else (k, m)))

    def function(t):
        first = t['a'].transpose(-1, -2) if transposed[0] else t['a']
        second = t['b'].transpose(-1, -2) if transposed[1] else t['b']
        return {'out': torch.matmul(first, second)}
    return Case('matmul', {'a': a, 'b': b}, function,
                {'transpose_a': int(transposed[0]), 'transpose_b': int(transposed[1])})


def image_shape(draws, channels):
    return draws.one_of([1, 2, 3, 16, 17]), channels, 1 + draws.below(13), 1 + draws.below(13)


def pair(draws, draw):
    """Returns a number for the rows and one for the columns, which are often the same."""
    rows = draw()
    return [rows, rows if draws.coin() else draw()]


def conv2d(draws, plain=False, padded=True):
    """Draws a convolution, a plain one without stride, dilation and groups, or one without
    padding."""
    groups = 1 if plain else draws.one_of([1, 1, 1, 2, 3])
    channels, outputs = groups * (1 + draws.below(9)), groups * (1 + draws.below(9))
    if not plain and draws.below(4) == 0:  # Each channel is convolved by itself.
        groups = channels = outputs = 2 + draws.below(17)
    stride = [1, 1] if plain else pair(draws, lambda: 1 + draws.below(3))
    padding = pair(draws, lambda: draws.below(4)) if padded else [0, 0]
    dilation = [1, 1] if plain else pair(draws, lambda: draws.one_of([1, 1, 1, 2]))
    kernel = pair(draws, lambda: 1 + draws.below(5))
    n, _, *size = image_shape(draws, channels)
    size = [max(size[i], 1, dilation[i] * (kernel[i] - 1) + 1 - 2 * padding[i]) for i in (0, 1)]
    tensors = {'x': draws.smooth((n, channels, *size)),
               'weight': draws.smooth((outputs, channels // groups, *kernel))}
    if draws.coin():
        tensors['bias'] = draws.smooth((outputs,))
    attributes = {'stride': stride, 'padding': padding, 'dilation': dilation, 'groups': groups}
    return Case('conv2d', tensors, lambda t: {'out': functional.conv2d(
        t['x'], t['weight'], t.get('bias'), stride, padding, dilation, groups)}, attributes)


def conv_transpose2d(draws):
    groups = draws.one_of([1, 1, 2, 3])
    channels, outputs = groups * (1 + draws.below(5)), groups * (1 + draws.below(5))
    if draws.below(4) == 0:  # Each channel is convolved by itself.
        groups = channels = outputs = 2 + draws.below(9)
    stride = pair(draws, lambda: 1 + draws.below(3))
    dilation = pair(draws, lambda: draws.one_of([1, 1, 1, 2]))
    kernel = pair(draws, lambda: 1 + draws.below(5))
    added = [draws.below(stride[i]) for i in (0, 1)]
    n, _, *size = image_shape(draws, channels)
    full = [(size[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 for i in (0, 1)]
    padding = [min(draws.below(3), (full[i] - 1) // 2) for i in (0, 1)]
    tensors = {'x': draws.smooth((n, channels, *size)),
               'weight': draws.smooth((channels, outputs // groups, *kernel))}
    attributes = {'stride': stride, 'padding': padding, 'dilation': dilation, 'groups': groups,
                  'output_padding': added}
    return Case('conv_transpose2d', tensors, lambda t: {'out': functional.conv_transpose2d(
        t['x'], t['weight'], None, stride, padding, added, groups, dilation)}, attributes)


def conv2d_lanes(draws):
    """Draws conv2d in the batch-lane layout, between the conversions."""
    is_pooled = draws.coin()
    case = conv2d(draws, plain=True, padded=not is_pooled)
    attributes = case.steps[0]['attributes']
    batch = case.inputs['x'].shape[0]
    case.steps = [step('to_lanes', ['x'], ['lanes']),
                  step('conv2d_lanes', ['lanes'] + list(case.inputs)[1:], ['done'], attributes),
                  step('from_lanes', ['done'], ['out'], {'batch': batch})]
    case.op = 'conv2d_lanes'
    return pooled(draws, case) if is_pooled else case


def depthwise_lanes(draws):
    """Draws a convolution with a kernel for each channel in the batch-lane layout, between the
    conversions. There is a sample in each lane, and the padding is less than the kernel."""
    kernel = pair(draws, lambda: 1 + draws.below(4))
    padding = [draws.below(size) for size in kernel]
    n, channels = 16 * (1 + draws.below(2)), 1 + draws.below(3)
    size = [max(1 + draws.below(7), kernel[i] - 2 * padding[i]) for i in (0, 1)]
    tensors = {'x': draws.smooth((n, channels, *size)),
               'weight': draws.smooth((channels, 1, *kernel))}
    if draws.coin():
        tensors['bias'] = draws.smooth((channels,))
    stride = [1 + draws.below(2) for _ in (0, 1)]
    return full_lanes(
        'depthwise_conv2d_lanes', tensors, {'padding': padding, 'stride': stride},
        lambda t: functional.conv2d(t['x'], t['weight'], t.get('bias'), stride=stride,
                                    padding=padding, groups=channels))


def pointwise_lanes(draws):
    """Draws a convolution of one pixel in the batch-lane layout, between the conversions. There is
    a sample in each lane."""
    n, channels, outputs = 16 * (1 + draws.below(2)), 1 + draws.below(5), 1 + draws.below(5)
    tensors = {'x': draws.smooth((n, channels, 1 + draws.below(3), 1 + draws.below(3))),
               'weight': draws.smooth((outputs, channels, 1, 1))}
    if draws.coin():
        tensors['bias'] = draws.smooth((outputs,))
    return full_lanes('pointwise_conv2d_lanes', tensors, {}, lambda t: functional.conv2d(
        t['x'], t['weight'], t.get('bias')))


def full_lanes(op, tensors, attributes, function):
    """Returns a case of `op` between the conversions. There is a sample in each lane."""
    case = Case(op, tensors, lambda t: {'out': function(t)})
    case.steps = [step('to_lanes', ['x'], ['lanes']),
                  step(op, ['lanes'] + list(tensors)[1:], ['done'], attributes),
                  step('from_lanes', ['done'], ['out'], {'batch': tensors['x'].shape[0]})]
    return case


def lanes_that_are_full(draws):
    return draws.one_of([depthwise_lanes, pointwise_lanes])(draws)


def pooled(draws, case):
    """Returns a case of the op that convolves, takes the largest of each 2x2 pixels and applies
    ReLU at once. The inputs are drawn so that the four pixels hardly ever differ by rounding
    only."""
    height, width = (case.inputs['x'].shape[axis] - case.inputs['weight'].shape[axis] + 1
                     for axis in (2, 3))
    if min(height, width) < 2 or max(case.steps[1]['attributes']['padding']) > 0:
        return case
    case.inputs = {name: draws.tensor(tensor.shape, 'normal')
                   for name, tensor in case.inputs.items()}
    case.steps[1] = step('conv2d_pool_relu_lanes', *(case.steps[1][key] for key in
                                                     ('inputs', 'outputs', 'attributes')))
    convolve = case.torch
    case.torch = lambda t: {'out': functional.relu(functional.max_pool2d(convolve(t)['out'], 2))}
    case.op = 'conv2d_pool_relu_lanes'
    return case


def pool(draws):
    name = draws.one_of(['max_pool2d', 'avg_pool2d', 'global_avg_pool2d'])
    kernel = pair(draws, lambda: 1 + draws.below(4))
    stride = pair(draws, lambda: 1 + draws.below(3))
    padding = [draws.below(kernel[i] // 2 + 1) for i in (0, 1)]
    ceil, counted = draws.coin(), draws.coin()
    n, channels, *size = image_shape(draws, 1 + draws.below(5))
    least = kernel
    dilation = pair(draws, lambda: draws.one_of([1, 1, 2, 3])) if name == 'max_pool2d' else [1, 1]
    if dilation != [1, 1]:
        least = [dilation[i] * (kernel[i] - 1) + 1 for i in (0, 1)]
    elif ceil and name != 'global_avg_pool2d':  # Then a window may end outside of the image.
        least = [max(1, kernel[i] - 2 * padding[i] - stride[i] + 1) for i in (0, 1)]
    x = draws.tensor((n, channels, *(max(size[i], least[i]) for i in (0, 1))))
    if name == 'global_avg_pool2d':
        return Case(name, {'x': x}, lambda t: {'out': t['x'].mean((2, 3))})
    attributes = {'kernel': kernel, 'stride': stride, 'padding': padding}
    if name == 'avg_pool2d':
        attributes |= {'ceil_mode': int(ceil), 'count_include_pad': int(counted)}
        return Case(name, {'x': x}, lambda t: {'out': functional.avg_pool2d(
            t['x'], kernel, stride, padding, ceil, counted)}, attributes)
    steps = None
    if dilation != [1, 1]:
        attributes['dilation'] = dilation
    if ceil:
        attributes['ceil_mode'] = 1
    elif dilation == [1, 1] and draws.coin():
        name = 'max_pool2d_lanes'
        steps = [step('to_lanes', ['x'], ['lanes']),
                 step('max_pool2d_lanes', ['lanes'], ['done'], attributes),
                 step('from_lanes', ['done'], ['out'], {'batch': n})]
    return Case(name, {'x': x}, lambda t: {'out': functional.max_pool2d(
        t['x'], kernel, stride, padding, dilation, ceil_mode=bool(ceil))}, attributes, steps,
                sharp=draws.sharp)


def interpolation(draws):
    """Draws a linear interpolation of images along their last two axes, one after the other."""
    n, channels, *size = image_shape(draws, 1 + draws.below(3))
    align = draws.coin()
    factors = [draws.one_of([0.5, 1.0, 1.3, 2.0, 2.7, 3.0]) for _ in size]
    keywords = {'size': [1 + draws.below(20) for _ in size]}
    scaled = draws.coin() and all(int(n * factor) > 0 for n, factor in zip(size, factors))
    if scaled:
        keywords = {'scale_factor': factors}
    out = [int(size[i] * factors[i]) if scaled else keywords['size'][i] for i in (0, 1)]
    attributes = [{'axis': i + 2, 'size': out[i], 'align_corners': int(align)} for i in (0, 1)]
    if scaled:
        attributes = [given | {'scale_factor': factor}
                      for given, factor in zip(attributes, factors)]
    steps = [step('interpolate', ['x'], ['wide'], attributes[1]),
             step('interpolate', ['wide'], ['out'], attributes[0])]
    return Case('interpolate', {'x': draws.tensor((n, channels, *size))},
                lambda t: {'out': functional.interpolate(
                    t['x'], mode='bilinear', align_corners=align, **keywords)}, steps=steps,
                amplification=1)


def normalised(draws, shape):
    """Returns inputs of a norm, not all equal: the smallest variances are a matter of eps."""
    return draws.tensor(shape, draws.one_of(['normal', 'normal', 'large', 'shifted', 'tiny']))


def steepness(x, axes, eps, weight):
    """Returns about the largest derivative of a norm over `axes`."""
    deviations = numpy.sqrt(x.astype(numpy.float64).var(axes) + eps)
    return 4 * float(abs(weight).max() / deviations.min())


# The result of a norm is the difference of numbers of about this size: a normalised element times
# its weight, and the bias.
NORM_OFFSET = 10


def layer_norm(draws):
    shape = draws.shape(2 + draws.below(3))
    axes = shape[1 + draws.below(len(shape) - 1):]
    eps = draws.one_of([1e-5, 1e-3, 0.1])
    tensors = {'x': normalised(draws, shape), 'weight': draws.tensor(axes, 'normal')}
    if draws.coin():
        tensors['bias'] = draws.tensor(axes, 'normal')
    return Case('layer_norm', tensors, lambda t: {'out': functional.layer_norm(
        t['x'], axes, t['weight'], t.get('bias'), eps)}, {'eps': eps}, amplification=steepness(
            tensors['x'], tuple(range(-len(axes), 0)), eps, tensors['weight']), offset=NORM_OFFSET)


def rms_norm(draws):
    shape = draws.shape(2 + draws.below(3))
    axes = shape[1 + draws.below(len(shape) - 1):]
    over = tuple(range(-len(axes), 0))
    eps = draws.one_of([1e-5, 1e-3, 0.1])
    x, weight = normalised(draws, shape), draws.tensor(axes, 'normal')
    squares = (x.astype(numpy.float64) ** 2).mean(over)
    return Case('rms_norm', {'x': x, 'weight': weight},
                lambda t: {'out': t['x'] * torch.rsqrt(
                    (t['x'] ** 2).mean(over, keepdim=True) + eps) * t['weight']}, {'eps': eps},
                amplification=4 * float(abs(weight).max() / numpy.sqrt(squares.min() + eps)))


def group_norm(draws):
    groups = 1 + draws.below(4)
    channels = groups * (1 + draws.below(4))
    x = normalised(draws, (1 + draws.size(), channels) + draws.shape(draws.below(3)))
    eps = draws.one_of([1e-5, 1e-3, 0.1])
    tensors = {'x': x}
    if draws.coin():
        tensors |= {name: draws.tensor((channels,), 'normal') for name in ('weight', 'bias')}
    return Case('group_norm', tensors, lambda t: {'out': functional.group_norm(
        t['x'], groups, t.get('weight'), t.get('bias'), eps)}, {'num_groups': groups, 'eps': eps},
        amplification=steepness(x.reshape(x.shape[0], groups, -1), 2, eps,
                                tensors.get('weight', numpy.ones(1))), offset=NORM_OFFSET)


def batch_norm(draws):
    shape = image_shape(draws, 1 + draws.below(6))
    shape = (shape[0] + 1,) + shape[1:2 + draws.below(3)]
    channels, eps = shape[1], draws.one_of([1e-5, 1e-3, 0.1])
    momentum, training = draws.one_of([0.1, 0.3, 1.0, 0.0]), draws.coin()
    tensors = {'x': normalised(draws, shape), 'weight': draws.tensor((channels,), 'normal'),
               'bias': draws.tensor((channels,), 'normal'),
               'mean': draws.tensor((channels,), 'normal'),
               'variance': draws.uniform((channels,), 0.1, 3)}

    def function(t):
        mean, variance = t['mean'].detach().clone(), t['variance'].detach().clone()
        out = functional.batch_norm(t['x'], mean, variance, t['weight'], t['bias'], training,
                                    momentum, eps)
        statistics = {'new_mean': mean, 'new_variance': variance}
        return {'out': out, **(statistics if tracked else {})}
    name = draws.one_of(['batch_norm', 'batch_norm', 'cumulative_batch_norm',
                         'untracked_batch_norm']) if training else 'batch_norm_inference'
    tracked = name in ('batch_norm', 'cumulative_batch_norm')
    outputs = ['out'] + ['saved_mean', 'saved_inverse'] * training + (
        ['new_mean', 'new_variance'] * tracked)
    attributes = {'eps': eps, 'momentum': momentum} if name == 'batch_norm' else {'eps': eps}
    inputs = list(tensors)[:3] if name == 'untracked_batch_norm' else list(tensors)
    if name == 'cumulative_batch_norm':
        # The mean over n + 1 micro-batches moves towards the newest one by 1/(n + 1).
        tensors['batches'] = numpy.full((channels,), draws.below(5), numpy.float32)
        momentum = 1 / (1 + float(tensors['batches'][0]))
        inputs, outputs = inputs + ['batches'], outputs + ['new_batches']
    return Case(name, tensors, function, steps=[step(name, inputs, outputs, attributes)],
                results=('out', 'new_mean', 'new_variance') if tracked else ('out',),
                gradients=['x', 'weight', 'bias'],
                amplification=steepness(tensors['x'], (0, *range(2, len(shape))), eps,
                                        tensors['weight']),
                offset=NORM_OFFSET)


def movement(draws):
    x = draws.tensor(draws.shape(2 + draws.below(3)), 'normal')
    axis = draws.below(x.ndim)
    name = draws.one_of(['transpose', 'reshape', 'slice', 'concat', 'flatten', 'expand', 'pad'])
    if name == 'transpose':
        axes = [int(axis) for axis in draws.random.permutation(x.ndim)]
        return Case(name, {'x': x}, lambda t: {'out': t['x'].permute(axes)}, {'axes': axes})
    if name == 'reshape':
        return Case(name, {'x': x}, lambda t: {'out': t['x'].reshape(x.shape[0], -1)},
                    {'shape': [x.shape[0], -1]})
    if name == 'flatten':
        return Case(name, {'x': x}, lambda t: {'out': t['x'].flatten(1)})
    if name == 'expand':
        leading = draws.shape(draws.below(2))
        sizes = leading + tuple(n if n > 1 else draws.size(4) for n in x.shape)
        kept = [-1 if i >= len(leading) and x.shape[i - len(leading)] == n and draws.coin() else n
                for i, n in enumerate(sizes)]
        return Case(name, {'x': x}, lambda t: {'out': t['x'].expand(sizes)}, {'shape': kept})
    if name == 'pad':
        before, after, value = draws.below(4), draws.below(4), draws.one_of([0.0, -1.5])
        widths = [0] * (2 * (x.ndim - 1 - axis)) + [before, after]
        return Case(name, {'x': x}, lambda t: {'out': functional.pad(t['x'], widths, value=value)},
                    {'axis': axis, 'before': before, 'after': after, 'value': value})
    if name == 'slice':
        begin = draws.below(x.shape[axis])
        end = begin + 1 + draws.below(x.shape[axis] - begin)
        return Case(name, {'x': x}, lambda t: {'out': t['x'].narrow(axis, begin, end - begin)},
                    {'axis': axis, 'begin': begin, 'end': end})
    other = draws.tensor(x.shape[:axis] + (draws.size(),) + x.shape[axis + 1:], 'normal')
    return Case(name, {'x': x, 'y': other},
                lambda t: {'out': torch.cat([t['x'], t['y']], axis)}, {'axis': axis})


def selection(draws):
    """Draws movements of elements along an axis, as PyTorch's functions have them, by indices."""
    x = draws.tensor(draws.shape(1 + draws.below(3)), 'normal')
    axis = draws.below(2 * x.ndim) - x.ndim
    size = x.shape[axis]
    name = draws.one_of(['index_select', 'flip', 'roll', 'step', 'repeat'])
    chosen = draws.labels((draws.size(),), size)
    shift, stride, times = draws.below(2 * size + 1) - size, 1 + draws.below(4), 1 + draws.below(3)
    functions = {
        'index_select': lambda x: x.index_select(axis, torch.tensor(chosen)),
        'flip': lambda x: x.flip(axis),
        'roll': lambda x: x.roll(shift, axis),
        'step': lambda x: x.movedim(axis, 0)[::stride].movedim(0, axis),
        'repeat': lambda x: torch.cat([x] * times, axis)}
    positions = numpy.arange(size)
    indices = {'index_select': chosen, 'flip': positions[::-1],
               'roll': numpy.roll(positions, shift),
               'step': positions[::stride], 'repeat': numpy.tile(positions, times)}[name]
    return Case('index_select', {'x': x}, lambda t: {'out': functions[name](t['x'])},
                {'axis': axis, 'indices': [int(i) for i in indices]})


def by_index(draws):
    name = draws.one_of(['gather', 'scatter_add'])
    x = draws.tensor(draws.shape(1 + draws.below(3)), 'normal')
    axis = draws.below(2 * x.ndim) - x.ndim
    shape = [1 + draws.below(n) for n in x.shape]
    shape[axis] = draws.size()
    index = draws.labels(shape, x.shape[axis])
    if name == 'gather':
        return Case(name, {'x': x, 'index': index},
                    lambda t: {'out': t['x'].gather(axis, t['index'])}, {'axis': axis})
    return Case(name, {'x': x, 'index': index, 'source': draws.tensor(tuple(shape), 'normal')},
                lambda t: {'out': t['x'].scatter_add(axis, t['index'], t['source'])},
                {'axis': axis})


def one_hot(draws):
    """Draws the product of a tensor and of ones where the ids say."""
    classes = draws.size()
    ids = draws.labels(draws.shape(1 + draws.below(2)), classes)
    return Case('one_hot', {'ids': ids, 'x': draws.tensor((classes,))},
                lambda t: {'out': functional.one_hot(t['ids'], classes) * t['x']},
                steps=[step('one_hot', ['ids'], ['ones'], {'classes': classes}),
                       step('mul', ['ones', 'x'], ['out'])])


def place_of_extremum(draws):
    """Draws argmax and argmin. Ties would be a matter of taste in PyTorch."""
    name = draws.one_of(['argmax', 'argmin'])
    x = draws.tensor(draws.shape(1 + draws.below(3)), 'normal')
    axis = draws.below(2 * x.ndim) - x.ndim
    keep, size = draws.coin(), x.shape[axis]
    return Case(name, {'x': x}, lambda t: {'out': functional.one_hot(
        getattr(t['x'], name)(axis, keepdim=keep), size).double()},
        steps=[step(name, ['x'], ['places'], {'axis': axis, 'keep': int(keep)}),
               step('one_hot', ['places'], ['out'], {'classes': size})], gradients=[])


def sort(draws):
    x = draws.tensor(draws.shape(1 + draws.below(3)), 'ties' if draws.sharp else 'normal')
    axis = draws.below(2 * x.ndim) - x.ndim
    descending, count = draws.coin(), 1 + draws.below(x.shape[axis])

    def function(t):
        values, indices = t['x'].sort(stable=True, dim=axis, descending=descending)
        indices = indices.narrow(axis, 0, count)
        return {'out': values.narrow(axis, 0, count),
                'taken': (1 + torch.arange(x.shape[axis]).double())[indices]}
    # The second result says where the elements were, counted from 1.
    return Case('sort', {'x': x, 'places': numpy.arange(1, x.shape[axis] + 1, dtype='float32')
                         .reshape((-1, 1))}, function,
                steps=[step('sort', ['x'], ['out', 'indices'],
                            {'axis': axis, 'descending': int(descending), 'count': count}),
                       step('embedding', ['places', 'indices'], ['taken'])],
                results=('out', 'taken'), gradients=['x'], sharp=draws.sharp)


def axis_of_one(draws):
    """Draws the taking away and the adding of an axis of one element."""
    shape = draws.shape(1 + draws.below(3))
    axis = draws.below(len(shape) + 1)
    name = draws.one_of(['squeeze', 'unsqueeze'])
    if name == 'squeeze':
        shape = shape[:axis] + (1,) + shape[axis:]
    rank = len(shape) if name == 'squeeze' else len(shape) + 1
    given = axis - rank * draws.below(2)
    return Case(name, {'x': draws.tensor(shape)},
                lambda t: {'out': getattr(torch, name)(t['x'], axis)}, {'axis': given})


def triangle(draws):
    name = draws.one_of(['tril', 'triu'])
    diagonal = draws.below(9) - 4
    return Case(name, {'x': draws.tensor(draws.shape(2 + draws.below(2)))},
                lambda t: {'out': getattr(torch, name)(t['x'], diagonal)}, {'diagonal': diagonal})


def product(draws):
    """Draws products along axes, with and without zeros among the factors."""
    shape = draws.shape(1 + draws.below(3))
    axes = [axis - len(shape) * draws.below(2) for axis in range(len(shape)) if draws.coin()]
    keep = draws.coin()
    x = draws.signs(shape) * draws.uniform(shape, 0.7, 1.4)
    if draws.coin():
        x = x * (draws.uniform(shape, 0, 1) > 0.1)

    def function(t):
        out = t['x'] * 1
        for axis in sorted((axis % len(shape) for axis in axes), reverse=True):
            out = out.prod(axis, keepdim=keep)
        return {'out': out}
    return Case('prod', {'x': x.astype('float32')}, function, {'axes': axes, 'keep': int(keep)})


def norm_or_logsumexp(draws):
    shape = draws.any_shape()
    axes = [axis - len(shape) * draws.below(2) for axis in range(len(shape)) if draws.coin()]
    axes, keep = axes or [draws.below(len(shape))], draws.coin()
    if draws.coin():
        x = draws.tensor(shape, draws.one_of(['normal', 'wide', 'large', 'shifted']))
        return Case('logsumexp', {'x': x},
                    lambda t: {'out': torch.logsumexp(t['x'], axes, keepdim=keep)},
                    {'axes': axes, 'keep': int(keep)}, amplification=1, offset=1)
    p = draws.one_of([2.0, 2.0, 1.0, 3.0, 1.5, 0.5])
    x = draws.signs(shape) * 10 ** draws.uniform(shape, -2, 2)
    return Case('vector_norm', {'x': x.astype('float32')},
                lambda t: {'out': torch.linalg.vector_norm(t['x'], p, axes, keepdim=keep)},
                {'axes': axes, 'keep': int(keep), 'p': p}, amplification=1)


def cumsum(draws):
    x = draws.tensor(draws.any_shape(), draws.one_of(['normal', 'wide']))
    axis, reverse = draws.below(2 * x.ndim) - x.ndim, draws.below(4) == 0

    def function(t):
        return {'out': t['x'].flip(axis).cumsum(axis).flip(axis) if reverse
                else t['x'].cumsum(axis)}
    return Case('cumsum', {'x': x}, function, {'axis': axis, 'reverse': int(reverse)})


def attention(draws):
    """Draws softmax(causal_mask(scores)). Every row has an element that is not masked."""
    n = draws.size(20)
    x = draws.tensor(draws.shape(draws.below(3)) + (n, n))
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    return Case('causal_mask', {'x': x},
                lambda t: {'out': t['x'].masked_fill(hidden, -math.inf).softmax(-1)},
                steps=[step('causal_mask', ['x'], ['masked']),
                       step('softmax', ['masked'], ['out'], {'axis': -1})], amplification=1)


def embedding(draws):
    rows, size = draws.size(30), draws.size(30)
    ids = draws.labels(draws.any_shape(), rows)
    padding = draws.below(rows) if draws.coin() else None
    return Case('embedding', {'weight': draws.tensor((rows, size)), 'ids': ids},
                lambda t: {'out': functional.embedding(t['ids'], t['weight'], padding)},
                {} if padding is None else {'padding_index': padding})


def recurrent_of_torch(name, t, reverse, lengths, nonlinearity):
    """Returns y and the last states as PyTorch computes them from what the gates get from the
    input, with the identity as weight of the input. A sample is computed by itself, with as many
    steps as it has."""
    sums, width = t['weight'].shape
    function = {'lstm': torch.lstm, 'gru': torch.gru,
                'rnn': torch.rnn_relu if nonlinearity == 'relu' else torch.rnn_tanh}[name]
    identity, zeros = torch.eye(sums, dtype=torch.float64), torch.zeros(sums, dtype=torch.float64)
    weights = [identity, t['weight']] + ([zeros, t['bias']] if 'bias' in t else [])
    none = torch.zeros(len(t['gates']), width, dtype=torch.float64)
    initial = [t.get(state, none)[None] for state in ('h', 'c')[:2 if name == 'lstm' else 1]]
    ys, states = [], []
    for i, length in enumerate(lengths):
        steps = t['gates'][i:i + 1, :length]
        own = [state[:, i:i + 1] for state in initial]
        y, *last = function(steps.flip(1) if reverse else steps, own if name == 'lstm' else own[0],
                            weights, 'bias' in t, 1, 0.0, False, False, True)
        rest = torch.zeros(1, t['gates'].shape[1] - length, width, dtype=torch.float64)
        ys.append(torch.cat([y.flip(1) if reverse else y, rest], 1))
        states.append(torch.cat(last))
    return torch.cat(ys), torch.cat(states, 1)


def recurrent(draws):
    """Draws a layer of lstm, gru or rnn in one direction. The result has y and the last states."""
    name, gates = draws.one_of([('lstm', 4), ('gru', 3), ('rnn', 1)])
    samples, steps, width = 1 + draws.below(5), 1 + draws.below(6), draws.size(12)
    if draws.below(8) == 0:
        samples, width = 1 + draws.below(40), 60 + draws.below(80)
    sums = gates * width
    small = 1 / math.sqrt(width)
    tensors = {'gates': draws.tensor((samples, steps, sums), 'normal'),
               'weight': draws.uniform((sums, width), -small, small)}
    attributes = {}
    if draws.coin():
        attributes['bias'], tensors['bias'] = 1, draws.tensor((sums,), 'normal')
    if draws.coin():
        attributes['initial'] = 1
        for state in ('h', 'c') if name == 'lstm' else ('h',):
            tensors[state] = draws.tensor((samples, width), 'normal')
    if draws.coin():
        attributes['lengths'] = 1
        tensors['lengths'] = 1 + draws.labels((samples,), steps)
    if draws.coin():
        attributes['reverse'] = 1
    nonlinearity = draws.one_of(['tanh', 'relu'])
    if name == 'rnn':
        attributes['nonlinearity'] = nonlinearity
    lengths = tensors.get('lengths', [steps] * samples)
    states = ['h_out', 'c_out'] if name == 'lstm' else ['h_out']

    def function(t):
        y, last = recurrent_of_torch(name, t, 'reverse' in attributes, lengths, nonlinearity)
        return {'out': torch.cat([y, last.transpose(0, 1)], 1)}

    rows = [step('reshape', [state], [state + '_row'], {'shape': [0, 1, width]})
            for state in states]
    joined = step('concat', ['y'] + [state + '_row' for state in states], ['out'], {'axis': 1})
    return Case(name, tensors, function,
                steps=[step(name, list(tensors), ['y'] + states, attributes), *rows, joined],
                amplification=4)


OPS = [activation, activation, activation, parametric_activation, parametric_activation,
       plain_activation, plain_activation, prelu, softmax, softmax, arithmetic, arithmetic,
       quotient, elementary, elementary, elementary, steps_of_numbers, power, power_of_values,
       clamp, extremum, comparison, where, reduction, reduction, scale, clipped_log, linear,
       linear, matmul, conv2d, conv2d, conv2d_lanes, conv2d_lanes, lanes_that_are_full, pool,
       pool, layer_norm, rms_norm, group_norm, batch_norm, batch_norm, movement, movement,
       attention, attention_of_heads, attention_of_heads, rotary_embedding, embedding, recurrent,
       recurrent, recurrent, conv_transpose2d, interpolation, interpolation, selection, by_index,
       one_hot, place_of_extremum, sort, triangle, axis_of_one, product, norm_or_logsumexp,
       cumsum]
