"""Computes layers for sequences, images and volumes with PyTorch, in double precision.

Usage: pytorch_spatial.py FILE

For each case, FILE has the input, the parameters, the result, a gradient of the result, and the
gradients of the parameters and of the input, summed over the samples. The file is stored as
tests/data/spatial_layers.safetensors, and tests/e2e/pytorch_spatial_test.cpp compares Penstock with
it.
"""

import sys

import torch
from torch import nn

import safetensors

SAMPLES = 2
SEQUENCE, IMAGE, VOLUME = (4, 9), (4, 7, 6), (2, 5, 6, 4)


class LPPool3d(nn.Module):
    """This is torch.nn.LPPool3d, which PyTorch 1.13 lacks, by the formula of nn.LPPool2d."""

    def __init__(self, norm, kernel, **options):
        super().__init__()
        self.norm, self.cells = norm, kernel ** 3
        self.average = nn.AvgPool3d(kernel, **options)

    def forward(self, x):
        return (self.average(x ** self.norm) * self.cells) ** (1 / self.norm)


# Each case has the shape of a sample and the layer.
CASES = {
    'conv1d_reflect': (SEQUENCE, lambda: nn.Conv1d(
        4, 6, 3, stride=2, padding=2, padding_mode='reflect')),
    'conv1d_same': (SEQUENCE, lambda: nn.Conv1d(4, 6, 4, padding='same', dilation=3, groups=2)),
    'conv2d_same': (IMAGE, lambda: nn.Conv2d(4, 6, (4, 3), padding='same', dilation=(1, 2))),
    'conv2d_same_circular': (IMAGE, lambda: nn.Conv2d(
        4, 2, (2, 4), padding='same', padding_mode='circular', bias=False)),
    'conv2d_reflect': (IMAGE, lambda: nn.Conv2d(
        4, 6, 3, stride=(1, 2), padding=(3, 1), padding_mode='reflect')),
    'conv2d_replicate': (IMAGE, lambda: nn.Conv2d(
        4, 6, 3, padding=(1, 4), padding_mode='replicate', groups=2)),
    'conv2d_circular': (IMAGE, lambda: nn.Conv2d(4, 6, 5, padding=2, padding_mode='circular')),
    'conv3d': (VOLUME, lambda: nn.Conv3d(2, 3, 3, padding=1)),
    'conv3d_one': (VOLUME, lambda: nn.Conv3d(2, 3, 1, bias=False)),
    'conv3d_strides': (VOLUME, lambda: nn.Conv3d(
        2, 4, (2, 3, 2), stride=(2, 3, 1), padding=(0, 2, 1), dilation=(2, 1, 3), groups=2)),
    'conv3d_patches': (VOLUME, lambda: nn.Conv3d(2, 3, (5, 3, 2), stride=(1, 3, 2))),
    'conv3d_same': (VOLUME, lambda: nn.Conv3d(
        2, 3, (2, 3, 4), padding='same', padding_mode='replicate')),
    'conv_transpose1d': (SEQUENCE, lambda: nn.ConvTranspose1d(
        4, 6, 4, stride=3, padding=2, output_padding=1, groups=2, dilation=2)),
    'conv_transpose1d_no_bias': (SEQUENCE, lambda: nn.ConvTranspose1d(4, 3, 2, bias=False)),
    'max_pool1d': (SEQUENCE, lambda: nn.MaxPool1d(3, 1, 1, dilation=2)),
    'max_pool2d': (IMAGE, lambda: nn.MaxPool2d((2, 3), 2, 1, dilation=(3, 1), ceil_mode=True)),
    'max_pool3d': (VOLUME, lambda: nn.MaxPool3d((2, 3, 2), (2, 1, 2), (1, 1, 0))),
    'max_pool3d_ceil': (VOLUME, lambda: nn.MaxPool3d(2, dilation=(1, 2, 1), ceil_mode=True)),
    'avg_pool3d': (VOLUME, lambda: nn.AvgPool3d(3, 2, 1)),
    'avg_pool3d_ceil': (VOLUME, lambda: nn.AvgPool3d(
        (2, 3, 3), 2, 1, ceil_mode=True, count_include_pad=False)),
    'adaptive_avg_pool1d': (SEQUENCE, lambda: nn.AdaptiveAvgPool1d(4)),
    'adaptive_max_pool1d': (SEQUENCE, lambda: nn.AdaptiveMaxPool1d(3)),
    'adaptive_avg_pool3d': (VOLUME, lambda: nn.AdaptiveAvgPool3d((2, 4, 2))),
    'adaptive_max_pool3d': (VOLUME, lambda: nn.AdaptiveMaxPool3d((5, 2, 3))),
    'nearest_scaled': (IMAGE, lambda: nn.Upsample(scale_factor=(1.7, 0.6))),
    'nearest_sized': (VOLUME, lambda: nn.Upsample((3, 7, 9))),
    'nearest_recomputed': (SEQUENCE, lambda: nn.Upsample(
        scale_factor=1.45, recompute_scale_factor=True)),
    'nearest_exact': (IMAGE, lambda: nn.Upsample(scale_factor=0.7, mode='nearest-exact')),
    'linear': (SEQUENCE, lambda: nn.Upsample(scale_factor=2.3, mode='linear')),
    'bilinear': (IMAGE, lambda: nn.Upsample(scale_factor=2, mode='bilinear')),
    'bilinear_recomputed': (IMAGE, lambda: nn.Upsample(
        scale_factor=(1.4, 0.55), mode='bilinear', recompute_scale_factor=True)),
    'bilinear_aligned': (IMAGE, lambda: nn.Upsample((12, 4), mode='bilinear', align_corners=True)),
    'trilinear': (VOLUME, lambda: nn.Upsample((7, 6, 9), mode='trilinear')),
    'conv_transpose3d': (VOLUME, lambda: nn.ConvTranspose3d(
        2, 4, (2, 3, 2), stride=(2, 3, 1), padding=(0, 3, 1), output_padding=(1, 2, 0),
        dilation=(2, 1, 1), groups=2)),
    'conv_transpose3d_no_bias': (VOLUME, lambda: nn.ConvTranspose3d(2, 3, 2, 2, bias=False)),
    'lp_pool1d': (SEQUENCE, lambda: nn.LPPool1d(2, 4, 2, ceil_mode=True)),
    'lp_pool2d': (IMAGE, lambda: nn.LPPool2d(4, (2, 3), 2)),
    'lp_pool2d_ceil': (IMAGE, lambda: nn.LPPool2d(2, 4, 3, ceil_mode=True)),
    'lp_pool3d': (VOLUME, lambda: LPPool3d(2, 2, ceil_mode=True)),
    'batch_norm3d': (VOLUME, lambda: nn.BatchNorm3d(2, track_running_stats=False)),
    'weight_norm_of_columns': (SEQUENCE, lambda: nn.utils.weight_norm(
        nn.Linear(9, 3, bias=False), dim=1)),
}


def as_floats(tensor):
    return tensor.detach().float().numpy()


def computed(shape, make):
    """Returns the tensors of a case."""
    layer = make().float()
    # PyTorch chooses other elements in double precision than in single precision.
    is_nearest = isinstance(layer, nn.Upsample) and layer.mode.startswith('nearest')
    number = torch.float if is_nearest else torch.double
    layer = layer.to(number)
    # All elements differ by more than a rounding, so that the largest one is the same everywhere.
    x = (torch.randperm(SAMPLES * torch.Size(shape).numel()).reshape(SAMPLES, *shape) / 64 - 2).to(
        number).requires_grad_()
    y = layer(x)
    gradient = torch.randn(y.shape).to(number)
    y.backward(gradient)
    found = {'x': x, 'y': y, 'dy': gradient, 'gradient.shift': x.grad.sum(0)}
    for name, parameter in layer.named_parameters():
        found |= {'layer.' + name: parameter, 'gradient.layer.' + name: parameter.grad}
    return {name: as_floats(tensor) for name, tensor in found.items()}


def main(path):
    torch.set_num_threads(1)
    torch.manual_seed(3)
    found = {f'{case}.{name}': tensor for case, (shape, make) in CASES.items()
             for name, tensor in computed(shape, make).items()}
    safetensors.write(path, found, {'torch': torch.__version__})
    print(f'{len(CASES)} cases')


if __name__ == '__main__':
    main(sys.argv[1])
