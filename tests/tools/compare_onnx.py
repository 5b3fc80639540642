"""Compares networks that PyTorch has exported to ONNX with PyTorch's own.

Usage: compare_onnx.py PROGRAM [NETWORK...]
       compare_onnx.py --store DIRECTORY NETWORK...

PROGRAM is onnx_steps of a build directory (tests/tools/onnx_steps). Without a NETWORK, all of them
are compared; the test suite names small ones, where a Python can import onnx, torch and
torchvision. Each network is exported in its form for training, runs once for inference, and trains
for two steps of SGD, in one stage and in two and four. The script prints how far outputs, losses
and weights are from PyTorch's in double precision, and how far PyTorch's are in single precision.
The distance of outputs and losses is relative to the largest of them, and that of a weight is
relative to the largest change that the training makes to the tensor of the weight, or to a
thousandth of the largest weight there if that is more. The script ends with status 1 if outputs or
losses are further than 1e-4 away, or weights further than 1e-3; if a parameter is not trained; or
if the bits of two numbers of stages differ.

With --store, it writes each network and PyTorch's results to DIRECTORY instead. The test suite has
those of the small networks in tests/data/onnx.
"""

import collections
import copy
import math
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch import nn

import safetensors

STEPS = 2
OUTPUTS, LOSSES, WEIGHTS = 1e-4, 1e-4, 1e-3


class Recurrent(nn.Module):
    """A recurrent layer, and a linear one behind its last step."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.head = layer, nn.Linear(12, 5)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class Encoder(nn.Module):
    """Two layers of a transformer's encoder."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0, activation='gelu',
                                           batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.encoder(x).mean(1))


class Decoder(nn.Module):
    """A language model of two layers with a causal mask."""

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(20, 16), nn.Parameter(torch.randn(9, 16))
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0, batch_first=True, norm_first=True)
        self.layers, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(16, 20)
        mask = nn.Transformer.generate_square_subsequent_mask(9)
        self.register_buffer('mask', mask)

    def forward(self, x):
        return self.head(self.layers(self.tokens(x) + self.places, self.mask))


class Columns(nn.Module):
    """A linear layer whose weight has a row for each input, as in TensorFlow and in GPT-2."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs ** 0.5)
        self.bias = nn.Parameter(torch.randn(outputs) / 4)

    def forward(self, x):
        return x @ self.weight + self.bias


class Block(nn.Module):
    """A block of a transformer, with its attention written out as exporters write it."""

    def __init__(self, width, heads, form):
        super().__init__()
        self.heads, self.form = heads, form
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = Columns(width, 3 * width), Columns(width, width)
        self.up, self.down = Columns(width, 2 * width), nn.Linear(2 * width, width)
        self.drop = nn.Dropout(0)

    def scores(self, q, k):
        """Returns q·kᵀ, divided by the root of the features, in one of the forms of exporters."""
        features = q.shape[-1]
        if self.form == 'pytorch':  # scaled_dot_product_attention of PyTorch 2
            scale = (1 / features ** 0.5) ** 0.5
            return (q * scale) @ (k.transpose(-2, -1) * scale)
        if self.form == 'tensorflow':
            return (q * (1 / features ** 0.5)) @ k.transpose(-2, -1)
        return q @ k.transpose(-2, -1) / features ** 0.5

    def attention(self, x, mask):
        parts = self.qkv(x).chunk(3, -1)
        q, k, v = (part.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2) for part in parts)
        scores = self.scores(q, k)
        if self.form == 'pytorch':
            scores = scores + mask
        elif self.form == 'tensorflow':
            scores = scores.masked_fill(mask < 0, -1e9)
        else:
            scores = torch.where(mask == 0, scores, torch.finfo(torch.float32).min)
        shares = self.drop(scores.softmax(-1))
        return self.out((shares @ v).transpose(1, 2).flatten(2))

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        y = self.up(self.norm2(x))
        y = 0.5 * y * (1 + torch.tanh(0.7978845608028654 * (y + 0.044715 * torch.pow(y, 3))))
        return x + self.down(y)


class Transformer(nn.Module):
    """Blocks in the forms of three exporters, with a causal mask."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(16, 4, form)
                                    for form in ('pytorch', 'tensorflow', 'gpt2'))
        self.head = nn.Linear(16, 5, bias=False)
        self.register_buffer('mask', torch.full((1, 1, 9, 9), -torch.inf).triu(1))

    def forward(self, x):
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(x)[:, -1]


def mlp():
    return nn.Sequential(nn.Linear(10, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 5))


def cnn():
    return nn.Sequential(collections.OrderedDict(
        conv1=nn.Conv2d(1, 8, 3, padding=1), bn1=nn.BatchNorm2d(8), relu1=nn.ReLU(),
        pool1=nn.MaxPool2d(2), conv2=nn.Conv2d(8, 8, 3, stride=2, padding=1),
        bn2=nn.BatchNorm2d(8), relu2=nn.ReLU(), pool2=nn.AdaptiveAvgPool2d(1),
        flatten=nn.Flatten(), fc=nn.Linear(8, 10)))


def library(name):
    """Returns a network of torchvision, without dropout, whose gradients are well-conditioned.

    In the network that torchvision makes, the batch norms have weights of 1 and biases of 0, and so
    the ReLUs behind them have many of their millions of inputs close to 0. Rounding brings some of
    these to the other side, and each of them switches a gradient on or off. PyTorch's own training
    in single precision then differs from that in double precision: of MobileNet-v2, by up to half
    of what a weight changes by; of ResNet-50, by more than that in most parameters, and by 0.07 of
    a loss. Here, the inputs of a ReLU have a mean of 2.5 standard deviations, where 0 is 23 times
    as rare, and one input in 160 is below 0. The small scale keeps the scores small, which are sums
    of features that are nearly all positive.
    """
    import torchvision
    network = getattr(torchvision.models, name)(num_classes=5)
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.constant_(module.weight, 0.2)
            nn.init.constant_(module.bias, 0.5)
    return network


# Each network has a function that makes it, the shape of a sample, the number of samples of a step,
# the number of classes, and the learning rate. The decoder's samples are tokens.
NETWORKS = {
    'mlp': (mlp, (10,), 8, 5, 0.1),
    'cnn': (cnn, (1, 28, 28), 8, 10, 0.1),
    'lstm': (lambda: Recurrent(nn.LSTM(6, 12, batch_first=True)), (7, 6), 8, 5, 0.1),
    'lstm2': (lambda: Recurrent(nn.LSTM(6, 6, 2, batch_first=True, bidirectional=True)),
              (7, 6), 8, 5, 0.1),
    'gru': (lambda: Recurrent(nn.GRU(6, 12, batch_first=True)), (7, 6), 8, 5, 0.1),
    'encoder': (Encoder, (9, 16), 8, 5, 0.05),
    'decoder': (Decoder, (9,), 8, 20, 0.05),
    'transformer': (Transformer, (9, 16), 8, 5, 0.05),
    'resnet18': (lambda: library('resnet18'), (3, 64, 64), 8, 5, 0.01),
    'mobilenet': (lambda: library('mobilenet_v2'), (3, 64, 64), 8, 5, 0.01),
    'resnet50': (lambda: library('resnet50'), (3, 64, 64), 8, 5, 0.005),
}


def data_of(name, shape, batch, classes):
    """Returns inputs and targets for all steps."""
    generator = torch.Generator().manual_seed(1)
    count = STEPS * batch
    if name == 'decoder':
        x = torch.randint(0, classes, (count, *shape), generator=generator)
        return x, torch.randint(0, classes, (count, *shape), generator=generator)
    return (torch.randn(count, *shape, generator=generator),
            torch.randint(0, classes, (count,), generator=generator))


def export(network, x, path):
    """Writes the network in its form for training to the file at `path`."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        torch.onnx.export(network, (x,), path, input_names=['x'], output_names=['scores'],
                          opset_version=14, training=torch.onnx.TrainingMode.PRESERVE,
                          do_constant_folding=False,
                          dynamic_axes={'x': {0: 'batch'}, 'scores': {0: 'batch'}})


def reference(network, x, target, batch, rate):
    """Returns what onnx_steps computes, as PyTorch does in the precision of the network."""
    precision = next(network.parameters()).dtype
    x = x.to(precision) if x.is_floating_point() else x
    network.eval()
    with torch.no_grad():
        results = {'out': network(x[:batch])}
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), rate)
    losses = []
    for step in range(STEPS):
        rows = slice(step * batch, (step + 1) * batch)
        scores = network(x[rows])
        loss = nn.functional.cross_entropy(scores.flatten(0, -2), target[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    results['losses'] = torch.tensor(losses)
    for name, parameter in network.named_parameters():
        results['param.' + name] = parameter.detach()
    return {name: value.numpy() for name, value in results.items()}


def difference(got, expected):
    """Returns the largest difference, relative to the largest expected number.

    Arrays of different shapes differ by infinity.
    """
    if got.shape != expected.shape:
        return math.inf
    return float(numpy.abs(got - expected).max() / max(numpy.abs(expected).max(), 1e-3))


def distance(got, expected, start):
    """Returns the largest difference of trained weights, relative to how far they have moved.

    Where they have moved by less than a thousandth of the largest, the difference is relative to
    that, because each step rounds the weights. Arrays of different shapes differ by infinity.
    """
    if got.shape != expected.shape:
        return math.inf
    moved = numpy.abs(expected - start).max()
    return float(numpy.abs(got - expected).max() / max(moved, 1e-3 * numpy.abs(start).max(), 1e-5))


def exported(name, path):
    """Writes the network to `path`, and returns it, with inputs and targets for all steps."""
    make, shape, batch, classes, _ = NETWORKS[name]
    torch.manual_seed(0)
    network = make().train()
    x, target = data_of(name, shape, batch, classes)
    export(network, x[:batch], path)
    return network, x, target


def store(name, directory):
    """Writes the network and PyTorch's results to files that the test suite reads."""
    network, x, target = exported(name, directory / f'{name}.onnx')
    _, _, batch, _, rate = NETWORKS[name]
    results = reference(network.double(), x, target, batch, rate)
    tensors = {key: value.astype(numpy.float32) for key, value in results.items()}
    safetensors.write(directory / f'{name}.safetensors',
                      tensors | {'in.x': x.numpy(), 'target': target.numpy()},
                      {'batch': str(batch), 'lr': str(rate)})


def compare(program, name, directory):
    """Compares a network, prints a line, and returns whether all is within the bounds."""
    _, _, batch, _, rate = NETWORKS[name]
    model, data = directory / f'{name}.onnx', directory / f'{name}.data'
    network, x, target = exported(name, model)
    # The export has run the network, which moves the statistics of its norms, and written these.
    start = {'param.' + key: value.detach().clone().numpy()
             for key, value in network.named_parameters()}
    safetensors.write(data, {'in.x': x.numpy(), 'target': target.numpy()},
                      {'batch': str(batch), 'lr': str(rate)})
    results = []
    for stages in (1, 2, 4):
        path = directory / f'{name}.{stages}'
        subprocess.run([program, model, data, path, str(stages)], check=True)
        results.append(safetensors.read(path)[0])
    same = all(results[0][key].tobytes() == other[key].tobytes()
               for other in results[1:] for key in results[0])
    single = reference(copy.deepcopy(network), x, target, batch, rate)
    expected = reference(network.double(), x, target, batch, rate)
    missing = [key for key in expected if key not in results[0]]
    weights = [key for key in expected if key.startswith('param.') and key not in missing]
    apart, apart_in_single = (
        {key: distance(got[key], expected[key], start[key]) if key in start
         else difference(got[key], expected[key]) for key in expected if key not in missing}
        for got in (results[0], single))
    # A parameter that PyTorch has changed has to change here, too.
    still = [key for key in weights
             if numpy.array_equal(results[0][key], start[key])
             and not numpy.array_equal(expected[key].astype(numpy.float32), start[key])]
    # numpy.max() gives NaN if any number is NaN, unlike max().
    worst, worst_in_single = (numpy.max([values[key] for key in weights])
                              for values in (apart, apart_in_single))
    print(f'{name}: outputs {apart["out"]:.2g}, losses {apart["losses"]:.2g}, '
          f'weights {worst:.2g}; '
          f'PyTorch in single precision {apart_in_single["out"]:.2g}, '
          f'{apart_in_single["losses"]:.2g}, {worst_in_single:.2g}; '
          f'{"the same bits" if same else "OTHER BITS"} in 1, 2 and 4 stages'
          + ''.join(f', MISSING {key}' for key in missing)
          + ''.join(f', NOT TRAINED {key}' for key in still), flush=True)
    return (same and not missing and not still and apart['out'] <= OUTPUTS
            and apart['losses'] <= LOSSES and worst <= WEIGHTS)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == '--store':
        for name in sys.argv[3:]:
            store(name, pathlib.Path(sys.argv[2]))
        return
    names = sys.argv[2:] or list(NETWORKS)
    with tempfile.TemporaryDirectory() as directory:
        good = [compare(sys.argv[1], name, pathlib.Path(directory)) for name in names]
    sys.exit(0 if all(good) else 1)


if __name__ == '__main__':
    main()
