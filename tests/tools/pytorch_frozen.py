"""Trains a small network with frozen parts with PyTorch, in double precision.

Usage: pytorch_frozen.py FILE

The inputs, the weights before and after, and the losses are written to FILE. They are stored as
tests/data/trajectories/frozen.safetensors, and tests/e2e/pytorch_frozen_test.cpp compares Penstock
with them.
"""

import sys

import numpy
import torch
from torch.nn import functional

import safetensors

UPDATES, BATCH = 12, 8
RATE, DECAY, CLIP = 0.02, 0.1, 0.5

# The parameters that each case freezes begin with these prefixes. The norm normalizes by its
# running statistics in all cases but the first.
CASES = {
    'training_norm': ['middle.'],
    'norm': [],
    'body': ['body.'],
    'body_and_middle': ['body.', 'middle.'],
}


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        # A bias before the norm would have a gradient of nothing but rounding errors.
        self.body = torch.nn.ModuleDict(
            {'conv': torch.nn.Conv2d(3, 4, 3, bias=False), 'norm': torch.nn.BatchNorm2d(4)})
        self.first = torch.nn.Linear(4 * 4 * 4, 8)
        self.middle = torch.nn.Linear(8, 8)
        self.head = torch.nn.Linear(8, 5)
        norm = self.body['norm']
        norm.running_mean.copy_(torch.tensor([0.1, -0.2, 0.3, 0.0]))
        norm.running_var.copy_(torch.tensor([0.5, 2.0, 1.0, 0.1]))

    def forward(self, x):
        x = torch.relu(self.body['norm'](self.body['conv'](x)))
        return self.head(torch.tanh(self.middle(torch.tanh(self.first(x.flatten(1))))))


def weights_of(network, prefix):
    return {prefix + name: tensor.detach().numpy().astype(numpy.float32)
            for name, tensor in network.state_dict().items()
            if not name.endswith('num_batches_tracked')}


def train(case, images, labels):
    torch.manual_seed(5)
    network = Network().double()
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not any(name.startswith(prefix) for prefix in CASES[case]))
    if case != 'training_norm':
        network.body['norm'].eval()
    tensors = weights_of(network, case + '.init.')
    trained = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=DECAY)
    losses = []
    for update in range(UPDATES):
        rows = slice(update * BATCH, (update + 1) * BATCH)
        optimizer.zero_grad()
        loss = functional.cross_entropy(network(images[rows]), labels[rows])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        losses.append(loss.item())
    tensors.update(weights_of(network, case + '.final.'))
    tensors[case + '.losses'] = numpy.array(losses, numpy.float32)
    return tensors


def main():
    torch.manual_seed(3)
    images = torch.randn(UPDATES * BATCH, 3, 6, 6).double()
    labels = torch.randint(0, 5, (UPDATES * BATCH,))
    tensors = {'images': images.numpy().astype(numpy.float32), 'labels': labels.numpy()}
    for case in CASES:
        tensors.update(train(case, images, labels))
    safetensors.write(sys.argv[1], tensors,
                      {'batch': str(BATCH), 'learning_rate': str(RATE),
                       'weight_decay': str(DECAY), 'max_grad_norm': str(CLIP)})


if __name__ == '__main__':
    main()
