"""Trains a small network of transformer layers with PyTorch, in double precision.

Usage: pytorch_transformer.py FILE

The weights before and after, the data and the losses are written to FILE. They are stored as
tests/data/trajectories/transformer.safetensors, and tests/e2e/pytorch_transformer_test.cpp compares
Penstock with them.
"""

import sys

import numpy
import torch

import safetensors

BATCH, UPDATES, STEPS, FEATURES, QUERIES, WIDTH, OUTPUTS = 4, 20, 5, 6, 3, 8, 2
LEARNING_RATE, MOMENTUM = 0.01, 0.8


class Network(torch.nn.Module):
    """A Network is the network of the test, with parameters of the same names. Both orders of norms
    and sums are there, and so are attentions to other features than those of the queries."""

    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(FEATURES, WIDTH)
        self.encoder = torch.nn.TransformerEncoderLayer(
            WIDTH, 2, 12, dropout=0.0, batch_first=True)
        self.distances = torch.nn.Parameter(torch.randn(STEPS, STEPS))
        self.decoder = torch.nn.TransformerDecoderLayer(
            WIDTH, 4, 10, dropout=0.0, activation='gelu', batch_first=True, norm_first=True)
        self.cross = torch.nn.MultiheadAttention(
            WIDTH, 2, kdim=FEATURES, vdim=FEATURES, batch_first=True)
        self.mixed = torch.nn.MultiheadAttention(WIDTH, 4, bias=False, batch_first=True)
        self.head = torch.nn.Linear(QUERIES * WIDTH, OUTPUTS)

    def forward(self, x, y, padding):
        memory = self.encoder(self.proj(x), src_mask=self.distances, src_key_padding_mask=padding)
        later = torch.full((QUERIES, QUERIES), -torch.inf).triu(1)
        y = self.decoder(y, memory, tgt_mask=later, memory_key_padding_mask=padding)
        y = y + self.cross(y, x, x, key_padding_mask=padding)[0]
        y = y + self.mixed(y, y, y, attn_mask=later)[0]
        return self.head(y.flatten(1))


def arrays(network, prefix):
    return {prefix + name: tensor.detach().float().numpy()
            for name, tensor in network.state_dict().items()}


def main(path):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.manual_seed(3)
    network = Network()
    for name, parameter in network.named_parameters():
        # Biases that start at 0 and weights that start at 1 would hide a mistake.
        if parameter.dim() == 1:
            parameter.data = parameter.data + 0.1 * torch.randn_like(parameter)
        parameter.data = parameter.data.float().double()
    samples = BATCH * UPDATES
    x = torch.randn(samples, STEPS, FEATURES).float().double()
    y = torch.randn(samples, QUERIES, WIDTH).float().double()
    lengths = torch.randint(1, STEPS + 1, (samples,))
    padding = torch.arange(STEPS) >= lengths[:, None]
    counted = x * ~padding[..., None]
    target = (0.5 + 0.3 * (counted.sum(1) + y.sum(1)[:, :FEATURES])[:, :OUTPUTS].tanh())
    target = target.float().double()
    found = {'x': x.float().numpy(), 'y': y.float().numpy(), 'padding': padding.long().numpy(),
             'target': target.float().numpy(), **arrays(network, 'init.')}
    # A bias of keys has no gradient but rounding, of which Adam would make whole steps.
    optimizer = torch.optim.SGD(network.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    losses = []
    for update in range(UPDATES):
        rows = slice(update * BATCH, (update + 1) * BATCH)
        optimizer.zero_grad()
        prediction = network(x[rows], y[rows], padding[rows])
        loss = torch.nn.functional.mse_loss(prediction, target[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    found.update(arrays(network, 'final.'))
    found['losses'] = numpy.array(losses, dtype=numpy.float32)
    metadata = {'batch': str(BATCH), 'learning_rate': str(LEARNING_RATE),
                'momentum': str(MOMENTUM), 'torch': torch.__version__}
    safetensors.write(path, found, metadata)
    print(f'loss {losses[0]:.4f} to {losses[-1]:.4f}')


if __name__ == '__main__':
    main(sys.argv[1])
