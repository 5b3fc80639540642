"""Trains nanoGPT's network for a CPU on a text with Penstock and with PyTorch.

Usage: compare_gpt.py TRAINER TEXT [--seeds N]

TRAINER is penstock-train of a build directory, and TEXT a file such as tinyshakespeare. The script
starts both from PyTorch's first weights and prints how far their first hundred losses are apart,
over the same windows. It then trains with TRAINER's default options from N seeds, 5 by default, and
prints the validation losses and their mean. A seed takes about a minute. The script ends with
status 1 if a loss is further than 2e-4 from PyTorch's, relative to it, or if the mean is above
1.90.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import torch

import safetensors
from pytorch_gpt import Gpt, Recipe, Sizes, arrays, train, windows

UPDATES, TOLERANCE, GOAL = 100, 2e-4, 1.90


def tokens_of(text):
    """Returns the text's characters for training, by the order of their codes."""
    numbers = {character: number for number, character in enumerate(sorted(set(text)))}
    count = int(0.9 * len(text))
    return torch.tensor([numbers[character] for character in text[:count]]), len(numbers)


def trained(trainer, text, options):
    """Trains with `trainer`, and returns the lines of its metrics."""
    with tempfile.TemporaryDirectory() as directory:
        metrics = pathlib.Path(directory, 'metrics')
        subprocess.run([trainer, '--model', 'gpt', '--data-dir', text, '--no-progress',
                        '--metrics', metrics, *options], check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in metrics.read_text().splitlines()]


def largest_difference(trainer, text):
    """Returns the largest difference of a loss, relative to PyTorch's in double precision."""
    torch.manual_seed(1)
    tokens, vocabulary = tokens_of(pathlib.Path(text).read_text())
    sizes, recipe = Sizes(vocabulary=vocabulary), Recipe()
    network = Gpt(sizes)
    with tempfile.TemporaryDirectory() as directory:
        weights = pathlib.Path(directory, 'weights')
        safetensors.write(weights, arrays(network, ''), {})
        lines = trained(trainer, text, ['--no-shuffle', '--init-weights', weights,
                                        '--max-updates', str(UPDATES)])
    losses = [loss for line in lines for loss in line.get('losses', [])]
    batches = windows(tokens, sizes.context, recipe.batch)[:UPDATES]
    expected = train(network.double(), batches, recipe)
    assert len(losses) == len(expected) == UPDATES, (len(losses), len(expected))
    assert all(math.isfinite(loss) for loss in losses), losses
    return max(abs(loss - exact) / exact for loss, exact in zip(losses, expected))


def validation_loss(trainer, text, seed):
    return trained(trainer, text, ['--seed', str(seed)])[-1]['summary']['validation_loss']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('trainer')
    parser.add_argument('text')
    parser.add_argument('--seeds', type=int, default=5)
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error('expected --seeds of 1 or more')
    difference = largest_difference(options.trainer, options.text)
    print(f'first {UPDATES} losses: at most {difference:.1e} from PyTorch', flush=True)
    losses = []
    for seed in range(options.seeds):
        losses.append(validation_loss(options.trainer, options.text, seed))
        print(f'validation loss of seed {seed}: {losses[-1]:.4f}', flush=True)
    mean = sum(losses) / len(losses)
    print(f'mean of {len(losses)} seeds: {mean:.4f}')
    sys.exit(not (difference <= TOLERANCE and mean <= GOAL))


if __name__ == '__main__':
    main()
