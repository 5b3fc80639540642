"""This module draws random cases of losses, each with the same computation in PyTorch."""

import math

import numpy
import torch
from torch.nn import functional

from op_case_draws import REDUCTIONS, Case, step, with_special


SPECIAL = (math.nan, math.inf, -math.inf, 1e30, -1e30)


def pair(draws, name, x, target, function, attributes=None, gradients=None, offset=0):
    """Draws a loss of `x` and `target`, which have the same shape. Both may have gradients."""
    reduction = draws.one_of(REDUCTIONS)
    if gradients is None:
        gradients = ['x', 'target'] if draws.coin() else ['x']
    return Case(name, {'x': x, 'target': target},
                lambda t: {'out': function(t['x'], t['target'], reduction)},
                {'reduction': reduction, **(attributes or {})}, gradients=gradients,
                sharp=draws.sharp, amplification=1,
                offset=offset * (x.size if reduction == 'sum' else 1))


def difference(draws):
    shape = draws.any_shape()
    # The square of a difference may be infinite, but twice the difference may not.
    x, target = with_special(draws, draws.tensor(shape), SPECIAL), draws.tensor(shape)
    name = draws.one_of(['l1_loss', 'mse_loss', 'smooth_l1_loss', 'huber_loss'])
    if name == 'huber_loss':
        delta = draws.one_of([1.0, 0.1, 5.0])
        # PyTorch multiplies an infinite difference by 0 in the gradient.
        return pair(draws, name, draws.tensor(shape), target,
                    lambda x, y, r: functional.huber_loss(x, y, r, delta), {'delta': delta})
    if name != 'smooth_l1_loss':
        function = getattr(functional, name)
        return pair(draws, name, x, target, lambda x, y, r: function(x, y, reduction=r))
    beta = draws.one_of([1.0, 0.1, 0.0, 5.0])
    # Where both inputs are equal, PyTorch's smooth_l1_loss has a gradient of -1 for both; for a
    # NaN, it has 0.
    if beta == 0:
        x = draws.tensor(shape)
        return pair(draws, name, x, target, lambda x, y, r: functional.l1_loss(x, y, reduction=r),
                    {'beta': beta})
    return pair(draws, name, x, target,
                lambda x, y, r: functional.smooth_l1_loss(x, y, reduction=r, beta=beta),
                {'beta': beta})


def binary(draws):
    shape = draws.any_shape()
    target = draws.uniform(shape, 0, 1) if draws.coin() else (draws.signs(shape) + 1) / 2
    if draws.coin():
        # PyTorch's formula gives no number for most infinite logits.
        x = with_special(draws, draws.tensor(shape), (math.nan, 1e30, -1e30))
        return pair(draws, 'binary_cross_entropy_with_logits', x, target,
                    lambda x, y, r: functional.binary_cross_entropy_with_logits(x, y, reduction=r),
                    gradients=['x'])
    x = draws.uniform(shape, 0.001, 0.999)
    return pair(draws, 'binary_cross_entropy', x, target,
                lambda x, y, r: functional.binary_cross_entropy(x, y, reduction=r),
                gradients=['x'], offset=1)


def multilabel(draws):
    shape = draws.shape(2)
    x, target = draws.tensor(shape), (draws.signs(shape) + 1) / 2
    return pair(draws, 'multilabel_soft_margin_loss', x, target,
                lambda x, y, r: functional.multilabel_soft_margin_loss(x, y, reduction=r),
                gradients=['x'])


def labelled(draws):
    classes = 1 + draws.below(40)
    shape = (draws.size(), classes) + (draws.shape(2) if draws.below(3) == 0 else ())
    labels = draws.labels(shape[:1] + shape[2:], classes)
    # PyTorch's classes are along axis 1; Penstock's may be along another axis.
    last = draws.coin()
    if last:
        shape = shape[:1] + shape[2:] + (classes,)
    in_front = (lambda x: x.movedim(-1, 1)) if last else lambda x: x
    ignored = draws.one_of([-100, -100, 0, classes - 1])
    if (labels == ignored).all():
        ignored = -100  # The mean over no label is 0 divided by 0.
    reduction = draws.one_of(REDUCTIONS)
    attributes = {'reduction': reduction, 'ignore_index': ignored, 'class_axis': -1 if last else 1}
    inputs = {'x': draws.tensor(shape), 'labels': labels}
    if draws.coin():
        inputs['weight'] = draws.uniform((classes,), 0.1, 2)
    offset = labels.size if reduction == 'sum' else 1
    if draws.coin():
        smoothing = draws.one_of([0.0, 0.0, 0.1, 0.5, 1.0])
        return Case('cross_entropy', inputs, lambda t: {'out': functional.cross_entropy(
            in_front(t['x']), t['labels'], t.get('weight'), ignore_index=ignored,
            reduction=reduction, label_smoothing=smoothing)},
            {**attributes, 'label_smoothing': smoothing}, gradients=['x'], amplification=1,
            offset=offset)
    steps = [step('log_softmax', ['x'], ['scores'], {'axis': -1 if last else 1}),
             step('nll_loss', ['scores'] + list(inputs)[1:], ['out'], attributes)]
    return Case('nll_loss', inputs, lambda t: {'out': functional.nll_loss(
        functional.log_softmax(in_front(t['x']), 1), t['labels'], t.get('weight'),
        ignore_index=ignored, reduction=reduction)}, steps=steps, gradients=['x'],
        amplification=1, offset=offset)


def class_margins(draws):
    shape, reduction = draws.shape(2), draws.one_of(REDUCTIONS)
    x, classes = draws.tensor(shape), shape[1]
    if draws.coin():
        inputs = {'x': x, 'labels': draws.labels(shape[:1], classes)}
        if draws.coin():
            inputs['weight'] = draws.uniform((classes,), 0.1, 2)
        p, margin = draws.one_of([1, 2]), draws.one_of([1.0, 0.3])
        return Case('multi_margin_loss', inputs, lambda t: {'out': functional.multi_margin_loss(
            t['x'], t['labels'], p, margin, t.get('weight'), reduction=reduction)},
            {'p': p, 'margin': margin, 'reduction': reduction}, gradients=['x'],
            sharp=draws.sharp, amplification=1, offset=float(abs(x).max()))
    # The labels of each sample are some different classes, and -1 behind them.
    labels = numpy.stack([draws.random.permutation(classes) for _ in range(shape[0])])
    for row in labels:
        row[draws.below(classes + 1):] = -1
    return Case('multilabel_margin_loss', {'x': x, 'labels': labels},
                lambda t: {'out': functional.multilabel_margin_loss(
                    t['x'], t['labels'], reduction=reduction)}, {'reduction': reduction},
                sharp=draws.sharp, amplification=classes, offset=float(abs(x).max()))


def gaussian(draws):
    shape, reduction = draws.any_shape(), draws.one_of(REDUCTIONS)
    full, eps = draws.coin(), draws.one_of([1e-6, 0.5])
    inputs = {'x': draws.tensor(shape, 'normal'), 'target': draws.tensor(shape, 'normal'),
              'variance': 10 ** draws.uniform(shape, -1, 1)}
    return Case('gaussian_nll_loss', inputs, lambda t: {'out': functional.gaussian_nll_loss(
        t['x'], t['target'], t['variance'], full=full, eps=eps, reduction=reduction)},
        {'full': int(full), 'eps': eps, 'reduction': reduction}, amplification=10,
        offset=sum_of_terms(shape, reduction))


def sum_of_terms(shape, reduction):
    """Returns the size of a sum of terms near 1."""
    return math.prod(shape) if reduction == 'sum' else 1


def divergence(draws):
    shape = draws.any_shape()
    logarithm = draws.coin()
    target = draws.tensor(shape, 'normal') if logarithm else draws.uniform(shape, 0.01, 1)
    return pair(draws, 'kl_div_loss', draws.tensor(shape), target,
                lambda x, y, r: functional.kl_div(x, y, reduction=r, log_target=logarithm),
                {'log_target': int(logarithm)})


def poisson(draws):
    shape = draws.any_shape()
    log_input, full = draws.coin(), draws.coin()
    eps = draws.one_of([1e-8, 1e-3])
    x = draws.uniform(shape, 0.05, 20)
    # Beyond 88 the rate is larger than any float; even below 88, a sum of rates can be larger.
    if log_input:
        x = draws.tensor(shape, draws.one_of(['normal', 'large', 'tiny'])).clip(-88, 78)
    target = draws.random.integers(0, 12, shape).astype('float32')
    return pair(draws, 'poisson_nll_loss', x, target,
                lambda x, y, r: functional.poisson_nll_loss(x, y, log_input, full, eps=eps,
                                                            reduction=r),
                {'log_input': int(log_input), 'full': int(full), 'eps': eps}, gradients=['x'])


def margins(draws):
    margin = draws.one_of([0.0, 0.3, 1.0, -0.2])
    shape = draws.any_shape()
    name = draws.one_of(['hinge_embedding_loss', 'soft_margin_loss', 'margin_ranking_loss'])
    x, target = draws.tensor(shape), draws.signs(shape)
    if name == 'hinge_embedding_loss':
        return pair(draws, name, x, target, lambda x, y, r: functional.hinge_embedding_loss(
            x, y, margin, reduction=r), {'margin': margin}, gradients=['x'])
    if name == 'soft_margin_loss':
        return pair(draws, name, x, target,
                    lambda x, y, r: functional.soft_margin_loss(x, y, reduction=r),
                    gradients=['x'])
    reduction = draws.one_of(REDUCTIONS)
    return Case(name, {'a': x, 'b': draws.tensor(shape), 'target': target},
                lambda t: {'out': functional.margin_ranking_loss(
                    t['a'], t['b'], t['target'], margin, reduction=reduction)},
                {'reduction': reduction, 'margin': margin}, gradients=['a', 'b'],
                sharp=draws.sharp)


def rows(draws):
    shape, reduction = draws.shape(2), draws.one_of(REDUCTIONS)
    margin = draws.one_of([0.3, 1.0])
    a, b, c = (draws.tensor(shape, 'normal') for _ in range(3))
    if draws.coin():
        shortest = min(float((rows.astype('float64') ** 2).sum(1).min()) ** 0.5 for rows in (a, b))
        return Case('cosine_embedding_loss', {'a': a, 'b': b, 'target': draws.signs(shape[0])},
                    lambda t: {'out': functional.cosine_embedding_loss(
                        t['a'], t['b'], t['target'], margin - 0.5, reduction=reduction)},
                    {'reduction': reduction, 'margin': margin - 0.5}, gradients=['a', 'b'],
                    amplification=1 / shortest, offset=shape[0] if reduction == 'sum' else 1)
    norm, swap = draws.one_of([1, 2]), draws.coin()
    return Case('triplet_margin_loss', {'a': a, 'b': b, 'c': c},
                lambda t: {'out': functional.triplet_margin_loss(
                    t['a'], t['b'], t['c'], margin, norm, 1e-6, swap, reduction=reduction)},
                {'reduction': reduction, 'margin': margin, 'p': norm, 'swap': int(swap)},
                amplification=1)


def ctc(draws):
    samples, steps_, classes = 1 + draws.below(4), 2 + draws.below(12), 2 + draws.below(6)
    width, blank = 1 + draws.below(5), draws.below(classes)
    labels = (blank + 1 + draws.labels((samples, width), classes - 1)) % classes
    lengths = 1 + draws.labels((samples,), steps_)
    counts = draws.labels((samples,), width + 1)
    reduction, zero = draws.one_of(REDUCTIONS), draws.coin()
    attributes = {'reduction': reduction, 'blank': blank, 'zero_infinity': int(zero)}
    steps = [step('log_softmax', ['x'], ['scores'], {'axis': 2}),
             step('ctc_loss', ['scores', 'labels', 'steps', 'counts'], ['out'], attributes)]
    inputs = {'x': draws.tensor((samples, steps_, classes), 'normal'), 'labels': labels,
              'steps': lengths, 'counts': counts}

    def spelled():
        """Returns whether each sample has steps for its labels and blanks between equal ones."""
        for i in range(samples):
            own = labels[i, :counts[i]]
            if lengths[i] < counts[i] + (own[1:] == own[:-1]).sum():
                return False
        return True
    # The gradient of an infinite loss is NaN, in PyTorch and in Penstock.
    return Case('ctc_loss', inputs, lambda t: {'out': functional.ctc_loss(
        functional.log_softmax(t['x'], 2).transpose(0, 1), t['labels'], t['steps'], t['counts'],
        blank, reduction, zero)}, steps=steps, gradients=['x'] if zero or spelled() else [],
        amplification=1)


def identity(draws):
    reduction = draws.one_of(REDUCTIONS)
    function = {'mean': torch.mean, 'sum': torch.sum, 'none': lambda x: x * 1}[reduction]
    return Case('identity_loss', {'x': draws.tensor(draws.any_shape())},
                lambda t: {'out': function(t['x'])}, {'reduction': reduction})


LOSSES = [difference, difference, binary, binary, multilabel, labelled, labelled, labelled,
          class_margins, class_margins, gaussian, divergence, poisson, margins, margins, rows, rows,
          ctc, identity]
