"""Trains torchvision's networks a little with PyTorch, in double precision.

Usage: torchvision_networks.py FILE

For each network, the names and shapes of the parameters and buffers, the losses of two updates,
and the logits after them are written to FILE. They are stored as
tests/data/torchvision.safetensors, and tests/e2e/torchvision_test.cpp compares Penstock with them.
Weights and images are not stored: they follow from their names by a formula, which that test has,
too.
"""

import math
import sys

import numpy
import torch
import torchvision
from torch.nn import functional

import safetensors

# The networks of Penstock have these names in torchvision.
NETWORKS = {'resnet18': 'resnet18', 'resnet50': 'resnet50', 'mobilenet-v2': 'mobilenet_v2'}
CLASSES, SIZE, BATCH, UPDATES = 10, 48, 4, 2
RATE, MOMENTUM = 0.0005, 0.9


def numbers(name, shape):
    """Returns numbers from -1 to 1 without a pattern, which depend on `name` alone."""
    key = 2166136261
    for letter in name.encode():  # This is the hash FNV-1a.
        key = (key ^ letter) * 16777619 % 2**32
    x = numpy.arange(math.prod(shape), dtype=numpy.uint32)
    x = x * numpy.uint32(2654435761) + numpy.uint32(key)
    for shift, factor in ((16, 0x85ebca6b), (13, 0xc2b2ae35)):
        x = (x ^ (x >> numpy.uint32(shift))) * numpy.uint32(factor)
    x ^= x >> numpy.uint32(16)
    return (x / 2.0**31 - 1).reshape(shape)


def weight(name, shape):
    """Returns the first value of a parameter or buffer, rounded to single precision.

    The norms have small weights and biases above 0: with PyTorch's own first values, rounding
    errors would grow from layer to layer and from update to update until they are as large as the
    losses.
    """
    x = numbers(name, shape)
    if len(shape) > 1:
        x = x * math.sqrt(6 / math.prod(shape[1:]))
    elif name.endswith('.weight'):
        x = (x + 4) / 16
    elif name.endswith('running_mean'):
        x = x / 4
    else:
        x = (x + 4) / 4
    return torch.from_numpy(x.astype(numpy.float32)).double()


def network_of(name):
    network = getattr(torchvision.models, NETWORKS[name])(num_classes=CLASSES).double()
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # The masks of a dropout are random.
    network.load_state_dict({key: weight(key, tuple(tensor.shape))
                             for key, tensor in state_of(network).items()}, strict=False)
    return network


def state_of(network):
    return {key: tensor for key, tensor in network.state_dict().items()
            if not key.endswith('num_batches_tracked')}


def results_of(name, images, labels):
    network = network_of(name)
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM)
    losses = []
    for _ in range(UPDATES):
        optimizer.zero_grad()
        loss = functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    network.eval()
    logits = network(images).detach().numpy()
    return {name + '.losses': numpy.array(losses, numpy.float32),
            name + '.logits': logits.astype(numpy.float32)}


def main(path):
    torch.set_num_threads(1)
    images = torch.from_numpy(
        numbers('image', (BATCH, 3, SIZE, SIZE)).astype(numpy.float32)).double()
    labels = torch.arange(BATCH) % CLASSES
    tensors = {}
    metadata = {'torch': torch.__version__, 'torchvision': torchvision.__version__,
                'size': str(SIZE), 'batch': str(BATCH), 'learning_rate': str(RATE),
                'momentum': str(MOMENTUM)}
    for name in NETWORKS:
        tensors |= results_of(name, images, labels)
        metadata[name] = ''.join(
            f'{key} [{",".join(map(str, tensor.shape))}]\n'
            for key, tensor in state_of(network_of(name)).items())
        print(name, tensors[name + '.losses'])
    safetensors.write(path, tensors, metadata)


if __name__ == '__main__':
    main(sys.argv[1])
