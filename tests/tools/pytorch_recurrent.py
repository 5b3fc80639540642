"""Trains a small network of recurrent layers with PyTorch, in double precision.

Usage: pytorch_recurrent.py FILE

The weights before and after, the data and the losses are written to FILE. They are stored as
tests/data/trajectories/recurrent.safetensors, and tests/e2e/pytorch_recurrent_test.cpp compares
Penstock with them.
"""

import sys

import numpy
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import safetensors

BATCH, UPDATES, STEPS, FEATURES, OUTPUTS, WIDTH = 4, 20, 5, 3, 2, 5
LEARNING_RATE = 0.02


class Network(torch.nn.Module):
    """A Network is the network of the test, with parameters of the same names."""

    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(FEATURES, WIDTH, 2, batch_first=True, bidirectional=True)
        self.rnn = torch.nn.RNN(2 * WIDTH, 6, batch_first=True, bias=False)
        self.gru = torch.nn.GRU(6, WIDTH, batch_first=True)
        self.head = torch.nn.Linear(WIDTH + 4 * WIDTH + STEPS * WIDTH, OUTPUTS)

    def forward(self, x, lengths):
        """The last hidden state of the LSTM's last direction is the first one of the GRU."""
        x, (hidden, cell) = self.lstm(x)
        x, _ = self.rnn(x)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        packed, last = self.gru(packed, hidden[3:4].contiguous())
        out, _ = pad_packed_sequence(packed, batch_first=True, total_length=STEPS)
        features = [last.transpose(0, 1), cell.transpose(0, 1), out]
        return self.head(torch.cat([feature.flatten(1) for feature in features], 1))


def arrays(network, prefix):
    return {prefix + name: tensor.detach().float().numpy()
            for name, tensor in network.state_dict().items()}


def main(path):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    torch.manual_seed(2)
    network = Network()
    for parameter in network.parameters():
        parameter.data = parameter.data.float().double()
    samples = BATCH * UPDATES
    x = torch.randn(samples, STEPS, FEATURES).float().double()
    lengths = torch.randint(1, STEPS + 1, (samples,))
    # The targets depend on the steps that count, so that there is something to learn.
    counts = (torch.arange(STEPS) < lengths[:, None])[..., None]
    target = (0.5 + 0.3 * (x * counts).sum(1)[:, :OUTPUTS].tanh()).float().double()
    found = {'x': x.float().numpy(), 'lengths': lengths.numpy(), 'target': target.float().numpy(),
             **arrays(network, 'init.')}
    optimizer, losses = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE), []
    for update in range(UPDATES):
        rows = slice(update * BATCH, (update + 1) * BATCH)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(network(x[rows], lengths[rows]), target[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    found.update(arrays(network, 'final.'))
    found['losses'] = numpy.array(losses, dtype=numpy.float32)
    metadata = {'batch': str(BATCH), 'learning_rate': str(LEARNING_RATE),
                'torch': torch.__version__}
    safetensors.write(path, found, metadata)
    print(f'loss {losses[0]:.4f} to {losses[-1]:.4f}')


if __name__ == '__main__':
    main(sys.argv[1])
