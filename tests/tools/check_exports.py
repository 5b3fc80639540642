"""Checks the ONNX files that Penstock writes with other libraries.

Usage: check_exports.py DIRECTORY

DIRECTORY is a build directory. Run the script with the Python of the system, for which Debian's
package python3-onnx is needed; python3-opencv is used if it is there, and the script says so if it
is not. The test suite runs the script where a Python can import onnx.

The script exports the networks of tests/tools/export_networks, and a perceptron that penstock-train
has trained. ONNX's own checker has to accept each file, shapes included. Where OpenCV has all
operators of a file, it has to compute what Penstock does, with differences of 1e-4 of the largest
number at most; for each other file the script prints what OpenCV lacks. It ends with status 1 if
anything differs, or if OpenCV 4.6 or later runs fewer networks than 4.6 is known to run.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.checker

import safetensors

try:
    import cv2
except ImportError:
    cv2 = None

TOLERANCE = 1e-4
# OpenCV 4.6 is known to run these.
RUN_BY_OPENCV = {'cifar-cnn', 'fashion-cnn', 'lstm', 'mlp', 'mnist-cnn', 'resnet18', 'resnet50',
                 'upsampling'}


def may_be_left_out(name):
    """Returns whether the OpenCV that is installed need not run the network."""
    release = tuple(int(number) for number in cv2.__version__.split('.')[:2])
    return release < (4, 6) or name not in RUN_BY_OPENCV


def check(path):
    """Checks a file by ONNX's rules, with all shapes that follow from them."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    return model


def by_opencv(path, x):
    """Returns what OpenCV computes, or raises cv2.error."""
    network = cv2.dnn.readNetFromONNX(str(path))
    network.setInput(x)
    return network.forward()


def compare(name, directory):
    """Returns whether OpenCV computes for a network what Penstock does."""
    x, y = (numpy.load(directory / f'{name}.{part}.npy') for part in 'xy')
    try:
        result = by_opencv(directory / f'{name}.onnx', x.astype(numpy.float32))
    except cv2.error as error:
        print(f'{name}: OpenCV does not run it: {error.err}'[:120])
        return may_be_left_out(name)
    if result.shape != y.shape:
        print(f'{name}: OpenCV gives the shape {result.shape} for {y.shape}')
        return may_be_left_out(name)
    difference = abs(result - y).max() / abs(y).max()
    print(f'{name}: OpenCV differs by {difference:.1e}')
    return difference <= TOLERANCE


def check_trained(trainer, directory):
    """Checks what the trainer writes, and that it knows the weights that it has trained."""
    path = directory / 'trained.onnx'
    subprocess.run([trainer, '--dataset', 'synthetic', '--model', 'mlp', '--epochs', '1',
                    '--max-updates', '4', '--no-progress', '--save-onnx', path,
                    '--save-weights', directory / 'trained.safetensors'],
                   check=True, stdout=subprocess.DEVNULL)
    written = sorted(tensor.raw_data for tensor in check(path).graph.initializer)
    weights, _ = safetensors.read_raw(directory / 'trained.safetensors')
    trained = sorted(content for _, _, content in weights.values())
    assert trained and all(trained), 'the trainer has saved no weights, or empty ones'
    assert written == trained, 'the weights in the file are not those that were trained'


def main():
    build = pathlib.Path(sys.argv[1])
    sound = True
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        subprocess.run([build / 'tests/tools/export_networks', directory], check=True)
        files = sorted(directory.glob('*.onnx'))
        for path in files:
            check(path)
        print(f'ONNX {onnx.__version__} accepts {len(files)} networks')
        check_trained(build / 'apps/trainer/penstock-train', directory)
        if cv2 is None:
            print('Nothing was compared with OpenCV, because this Python has no package cv2')
        else:
            for path in files:
                sound = compare(path.stem, directory) and sound
    return 0 if sound else 1


if __name__ == '__main__':
    sys.exit(main())
