"""Usage: pytorch_trajectories.py FILE. Trains a small network under many optimizers and options
with PyTorch, in double precision, and writes the results to FILE. The results are stored as
tests/data/trajectories/small.safetensors, and tests/e2e/pytorch_trajectories_test.cpp compares
Penstock with them.

The network is smooth (it has no ReLU and no maximum), and no parameter has a gradient that would be
zero without rounding, so that the runs of Penstock and PyTorch differ by rounding only.
"""

import copy
import json
import sys

import numpy
import torch

import safetensors

BATCH, UPDATES, CHANNELS, SIZE, CLASSES = 4, 10, 2, 6, 5
# This is the largest number of micro-batches of all replicas that an update accumulates in any
# case.
MOST_MICRO_BATCHES = 4
# A run without one of its settings has to differ by at least this part of a tensor's largest
# magnitude.
NOTICED = 1e-3


def case(settings, accumulation=2, replicas=1, reduction='mean', **optimizer):
    return {'optimizer': {'settings': settings, **optimizer}, 'accumulation': accumulation,
            'replicas': replicas, 'reduction': reduction}


def rule(name, learning_rate, **constants):
    return {'rule': name, 'learning_rate': learning_rate, **constants}


BIASES = ['fc1.bias', 'fc2.bias', 'norm.bias', 'norm.weight']

CASES = {
    'sgd': case(rule('sgd', 0.2), accumulation=1),
    'sgd_over_three_micro_batches': case(rule('sgd', 0.2), accumulation=3),
    'sgd_of_two_replicas': case(rule('sgd', 0.2), replicas=2),
    'sgd_of_four_replicas': case(rule('sgd', 0.2), accumulation=1, replicas=4),
    'sgd_of_the_sum': case(rule('sgd', 0.05), replicas=2, reduction='sum'),
    'momentum': case(rule('sgd', 0.1, momentum=0.9)),
    'dampened_momentum': case(rule('sgd', 0.1, momentum=0.9, dampening=0.5)),
    'nesterov': case(rule('sgd', 0.1, momentum=0.9, nesterov=True, weight_decay=0.1)),
    'clipped_sgd': case(rule('sgd', 0.2), replicas=2, max_grad_norm=0.2),
    'clipped_momentum': case(rule('sgd', 0.1, momentum=0.9), max_grad_norm=0.1),
    'clipped_adamw': case(rule('adamw', 0.01, weight_decay=1.0, eps=1e-3), max_grad_norm=0.05),
    'adam': case(rule('adam', 0.02), replicas=2),
    'adam_with_decay': case(rule('adam', 0.02, beta1=0.8, beta2=0.95, eps=1e-3,
                                 weight_decay=0.3)),
    'adamw': case(rule('adamw', 0.02, weight_decay=1.0), replicas=2),
    'adamw_of_two_groups': case(
        rule('adamw', 0.02, weight_decay=1.0),
        groups=[{'parameters': BIASES, 'settings': rule('adamw', 0.01, weight_decay=0.0)}]),
    # Each group is an optimizer of its own in PyTorch, and the norm is that of all gradients.
    'adam_beside_sgd': case(
        rule('adam', 0.02), replicas=2,
        groups=[{'parameters': BIASES, 'settings': rule('sgd', 0.1, momentum=0.9)}]),
    'clipped_sgd_beside_adamw_and_rmsprop': case(
        rule('sgd', 0.1, momentum=0.9), max_grad_norm=0.2,
        groups=[{'parameters': ['fc1.weight'],
                 'settings': rule('adamw', 0.01, weight_decay=1.0, eps=1e-3)},
                {'parameters': ['conv.weight'],
                 'settings': rule('rmsprop', 0.002, alpha=0.9, eps=1e-3)}]),
    'rmsprop': case(rule('rmsprop', 0.01, alpha=0.9)),
    'rmsprop_with_decay': case(rule('rmsprop', 0.01, alpha=0.9, eps=1e-3, weight_decay=0.3)),
    'centered_rmsprop': case(rule('rmsprop', 0.01, alpha=0.9, eps=1e-3, centered=True)),
    'rmsprop_with_momentum': case(rule('rmsprop', 0.002, alpha=0.9, momentum=0.9)),
    'centered_rmsprop_with_momentum_and_decay': case(
        rule('rmsprop', 0.002, alpha=0.9, eps=1e-3, momentum=0.9, centered=True,
             weight_decay=0.5), replicas=2),
}

CLASS_OF_RULE = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam, 'adamw': torch.optim.AdamW,
                 'rmsprop': torch.optim.RMSprop}


class Network(torch.nn.Module):
    """A Network is the network of the test, with parameters of the same names."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(CHANNELS, 4, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(4)
        self.fc1 = torch.nn.Linear(4 * (SIZE // 2) ** 2, 8)
        self.fc2 = torch.nn.Linear(8, CLASSES)

    def forward(self, x):
        x = torch.tanh(self.norm(self.conv(x)))
        x = torch.nn.functional.avg_pool2d(x, 2).flatten(1)
        return self.fc2(torch.nn.functional.silu(self.fc1(x)))


def constants(settings):
    """Returns arguments for PyTorch's class from Penstock's settings. PyTorch's defaults apply."""
    result = {key: value for key, value in settings.items()
              if key not in ('rule', 'learning_rate', 'beta1', 'beta2')}
    if settings['rule'] in ('adam', 'adamw'):
        result['betas'] = (settings.get('beta1', 0.9), settings.get('beta2', 0.999))
    return {'lr': settings['learning_rate'], **result}


def optimizers_of(network, optimizer):
    """Returns an optimizer for each rule, with a parameter group for each group of that rule."""
    settings, groups = optimizer['settings'], optimizer.get('groups', [])
    special = {name: group['settings'] for group in groups for name in group['parameters']}
    of_rule = {}
    for name, parameter in network.named_parameters():
        own = special.get(name, settings)
        of_rule.setdefault(own['rule'], []).append({'params': [parameter], **constants(own)})
    return [CLASS_OF_RULE[rule_name](of_parameters, lr=1.0)
            for rule_name, of_parameters in of_rule.items()]


def train(network, images, labels, options):
    """Returns the losses of all micro-batches in data order, and the state of replica 0."""
    replicas = [copy.deepcopy(network) for _ in range(options['replicas'])]
    first = replicas[0]
    optimizers = optimizers_of(first, options['optimizer'])
    count = options['accumulation'] * options['replicas']
    divisor = count if options['reduction'] == 'mean' else 1
    losses, begin = [], 0
    for _ in range(UPDATES):
        totals = [torch.zeros_like(p) for p in first.parameters()]
        for micro_batch in range(count):
            replica = replicas[micro_batch % len(replicas)]
            replica.zero_grad()
            rows = slice(begin, begin + BATCH)
            loss = torch.nn.functional.cross_entropy(replica(images[rows]), labels[rows])
            loss.backward()
            losses.append(loss.item())
            for total, parameter in zip(totals, replica.parameters()):
                total += parameter.grad
            begin += BATCH
        for total, parameter in zip(totals, first.parameters()):
            parameter.grad = total / divisor
        limit = options['optimizer'].get('max_grad_norm')
        if limit:
            norm = torch.nn.utils.clip_grad_norm_(first.parameters(), limit)
            assert norm > limit, f"an update is not clipped: {norm}"
        for optimizer in optimizers:
            optimizer.step()
        with torch.no_grad():
            for replica in replicas[1:]:
                for target, source in zip(replica.parameters(), first.parameters()):
                    target.copy_(source)
    state = {name: tensor.detach().numpy() for name, tensor in first.state_dict().items()
             if not name.endswith('num_batches_tracked')}
    return numpy.array(losses), state


def without_one(optimizer):
    """Returns {setting: the optimizer without it}, for every setting but the learning rate."""
    result = {}
    for key in optimizer['settings']:
        if key in ('rule', 'learning_rate') or optimizer['settings'].get('nesterov') and (
                key == 'momentum'):  # There is no Nesterov momentum without momentum.
            continue
        result[key] = copy.deepcopy(optimizer)
        del result[key]['settings'][key]
        if optimizer['settings']['rule'] == 'adamw' and key == 'weight_decay':
            result[key]['settings'][key] = 0.0
    for key in set(optimizer) - {'settings'}:
        result[key] = copy.deepcopy(optimizer)
        del result[key][key]
    return result


def difference(state, other):
    """Returns the largest difference in any tensor, in parts of the tensor's largest magnitude."""
    return max(abs(state[name] - other[name]).max() / abs(state[name]).max() for name in state)


def main(path):
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    count = UPDATES * BATCH * MOST_MICRO_BATCHES
    labels = torch.randint(CLASSES, (count,))
    images = torch.randn(count, CHANNELS, SIZE, SIZE) + 0.3 * labels.view(-1, 1, 1, 1)
    images = images.float().double()
    network = Network()
    for parameter in network.parameters():
        parameter.data = parameter.data.float().double()
    tensors = {'images': images.float().numpy(), 'labels': labels.numpy()}
    for name, tensor in network.state_dict().items():
        if not name.endswith('num_batches_tracked'):
            tensors['init.' + name] = tensor.float().numpy()
    metadata = {'batch_size': str(BATCH), 'updates': str(UPDATES), 'torch': torch.__version__}
    for name, options in CASES.items():
        losses, state = train(network, images, labels, options)
        variants = without_one(options['optimizer'])
        for setting, variant in variants.items():
            parted = difference(state, train(network, images, labels,
                                             {**options, 'optimizer': variant})[1])
            assert parted > NOTICED, f'{name} hardly depends on {setting}: {parted}'
        metadata[name] = json.dumps({**options, 'without': variants}, sort_keys=True)
        tensors[name + '.losses'] = losses.astype(numpy.float32)
        for key, tensor in state.items():
            tensors[f'{name}.final.{key}'] = tensor.astype(numpy.float32)
        print(f'{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}')
    safetensors.write(path, tensors, metadata)


if __name__ == '__main__':
    main(sys.argv[1])
