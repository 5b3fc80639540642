"""Trains a small transformer with PyTorch, in double precision, as nanoGPT does.

Usage: pytorch_gpt.py FILE

The weights before and after, the tokens and the losses are written to FILE. They are stored as
tests/data/trajectories/gpt.safetensors, and tests/e2e/pytorch_gpt_test.cpp compares Penstock with
them. Other scripts import the network and its training to run it at other sizes.
"""

import dataclasses
import math
import sys

import numpy
import torch
from torch.nn import functional

import safetensors


@dataclasses.dataclass
class Sizes:
    """These are the sizes of the network; the defaults are nanoGPT's for a CPU."""
    layers: int = 4
    heads: int = 4
    width: int = 128
    context: int = 64
    vocabulary: int = 65


@dataclasses.dataclass
class Recipe:
    """These are the constants of the training; the defaults are nanoGPT's for a CPU."""
    updates: int = 2000
    batch: int = 12
    learning_rate: float = 1e-3
    last_learning_rate: float = 1e-4
    warm_up: int = 100
    betas: tuple = (0.9, 0.99)
    weight_decay: float = 0.1
    max_grad_norm: float = 1.0


class Norm(torch.nn.Module):
    """A Norm is a LayerNorm without a bias."""

    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return functional.layer_norm(x, self.weight.shape, self.weight, None, 1e-5)


class Attention(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.heads = sizes.heads
        self.qkv = torch.nn.Linear(sizes.width, 3 * sizes.width, bias=False)
        self.proj = torch.nn.Linear(sizes.width, sizes.width, bias=False)

    def forward(self, x):
        samples, count, width = x.shape
        q, k, v = (part.view(samples, count, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).split(width, 2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        later = torch.ones(count, count, dtype=torch.bool).triu(1)
        shares = scores.masked_fill(later, -math.inf).softmax(-1)
        return self.proj((shares @ v).transpose(1, 2).reshape(samples, count, width))


class Perceptron(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.fc = torch.nn.Linear(sizes.width, 4 * sizes.width, bias=False)
        self.proj = torch.nn.Linear(4 * sizes.width, sizes.width, bias=False)

    def forward(self, x):
        return self.proj(functional.gelu(self.fc(x)))


class Block(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.ln_1, self.attn = Norm(sizes.width), Attention(sizes)
        self.ln_2, self.mlp = Norm(sizes.width), Perceptron(sizes)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(torch.nn.Module):
    """A Gpt has parameters of the same names as apps/networks/gpt.hpp, and as first weights the
    same distributions."""

    def __init__(self, sizes):
        super().__init__()
        self.wte = torch.nn.Embedding(sizes.vocabulary, sizes.width)
        self.wpe = torch.nn.Embedding(sizes.context, sizes.width)
        self.h = torch.nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.ln_f = Norm(sizes.width)
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                std = 0.02 / (math.sqrt(2 * sizes.layers) if 'proj' in name else 1)
                torch.nn.init.normal_(parameter, 0, std)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[:tokens.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T

    def loss(self, tokens, following):
        return functional.cross_entropy(self(tokens).flatten(0, 1), following.flatten())


def optimizer_of(network, recipe):
    """Returns AdamW with a weight decay for matrices only."""
    parameters = list(network.parameters())
    return torch.optim.AdamW(
        [{'params': [p for p in parameters if p.ndim == 2], 'weight_decay': recipe.weight_decay},
         {'params': [p for p in parameters if p.ndim != 2], 'weight_decay': 0.0}],
        lr=recipe.learning_rate, betas=recipe.betas)


def rate_of(update, recipe):
    """Returns the learning rate of an update, counted from 0."""
    if update < recipe.warm_up:
        return recipe.learning_rate * update / recipe.warm_up
    share = min(1.0, (update - recipe.warm_up) / max(1, recipe.updates - recipe.warm_up))
    height = recipe.learning_rate - recipe.last_learning_rate
    return recipe.last_learning_rate + height * (1 + math.cos(math.pi * share)) / 2


def train(network, batches, recipe):
    """Trains on `batches`, pairs of tokens and of those that follow, and returns the losses."""
    optimizer, losses = optimizer_of(network, recipe), []
    for update, (tokens, following) in enumerate(batches):
        for group in optimizer.param_groups:
            group['lr'] = rate_of(update, recipe)
        optimizer.zero_grad()
        loss = network.loss(tokens, following)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), recipe.max_grad_norm)
        optimizer.step()
        losses.append(loss.item())
    return losses


def windows(tokens, context, batch):
    """Returns batches of windows that stand side by side in the text."""
    count = (len(tokens) - 1) // context
    first = tokens[:count * context].view(count, context)
    following = tokens[1:count * context + 1].view(count, context)
    return [(first[i:i + batch], following[i:i + batch])
            for i in range(0, count - batch + 1, batch)]


def arrays(network, prefix):
    return {prefix + name: tensor.detach().float().numpy()
            for name, tensor in network.state_dict().items()}


def main(path):
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    sizes = Sizes(layers=2, heads=2, width=16, context=8, vocabulary=11)
    recipe = Recipe(updates=40, batch=4, learning_rate=2e-2, last_learning_rate=2e-3, warm_up=5,
                    max_grad_norm=0.5)
    # Each token depends on the one before it, so that there is something to learn.
    tokens = [1]
    for draw in torch.randint(0, 2, (recipe.updates * recipe.batch * sizes.context,)).tolist():
        tokens.append((2 * tokens[-1] + draw) % sizes.vocabulary)
    tokens = torch.tensor(tokens)
    network = Gpt(sizes)
    # Larger weights than nanoGPT's let such a small network learn in a few updates.
    for parameter in network.parameters():
        parameter.data = (parameter.data * (5 if parameter.ndim == 2 else 1)).float().double()
    found = {'tokens': tokens.numpy(), **arrays(network, 'init.')}
    losses = train(network, windows(tokens, sizes.context, recipe.batch), recipe)
    assert len(losses) == recipe.updates
    found.update(arrays(network, 'final.'))
    found['losses'] = numpy.array(losses, dtype=numpy.float32)
    metadata = {key: str(value) for key, value in
                {**dataclasses.asdict(sizes), **dataclasses.asdict(recipe)}.items()
                if key != 'betas'}
    safetensors.write(path, found, {**metadata, 'torch': torch.__version__})
    print(f'loss {losses[0]:.4f} to {losses[-1]:.4f}')


if __name__ == '__main__':
    main(sys.argv[1])
