"""Runs penstock-onnx on a small network of PyTorch's.

Usage: program_test.py PROGRAM MODEL REFERENCE

REFERENCE is the safetensors file of tests/data/onnx that belongs to MODEL.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[2] / 'tools'))
import safetensors


def npy(shape, elements):
    """Returns the file that NumPy writes for an array of float32."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + elements


def floats(content):
    return struct.unpack(f'<{len(content) // 4}f', content)


def call(*arguments, status=0):
    run = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert run.returncode == status, (arguments, run)
    return run.stdout + run.stderr


def check_conversions(program, model, directory):
    """Checks that weights go from a model to a file of their own, and back changed."""
    weights, copy = directory / 'weights.safetensors', directory / 'copy.onnx'
    call(program, 'convert', model, weights)
    call(program, 'convert', model, copy, '--weights', weights)
    call(program, 'convert', copy, directory / 'again.safetensors')
    assert weights.read_bytes() == (directory / 'again.safetensors').read_bytes()
    content = bytearray(weights.read_bytes())
    content[-4:] = struct.pack('<f', 7)
    weights.write_bytes(content)
    call(program, 'convert', model, copy, '--weights', weights)
    call(program, 'convert', copy, directory / 'again.safetensors')
    assert weights.read_bytes() == (directory / 'again.safetensors').read_bytes()
    assert call(program, 'summary', copy) == call(program, 'summary', model)
    refusal = call(program, 'convert', model, copy, status=2)
    assert 'expected --weights FILE' in refusal, refusal


def check_refusals(program, model, directory):
    """Checks that the program says what is wrong, before it says how it is called."""
    for wrong, text in (([], 'expected the command summary, run, check or convert, got none'),
                        (['foo'], 'got "foo"'), (['check'], 'expected one FOLDER or more'),
                        (['run', model, '--input', 'x.npy'], 'got "--input"'),
                        (['convert', 'a'], 'expected FILE and RESULT, got "a"')):
        refusal = call(program, *wrong, status=2)
        message, usage = refusal.split('\n', 1)
        assert message.startswith('penstock-onnx: ') and text in message, refusal
        assert usage.startswith('Usage:'), refusal
    refusal = call(program, 'run', model, '--inputs', directory / 'x.npy', '--output-dir',
                   directory / 'x.npy', status=2)
    expected = (f'penstock-onnx: --output-dir "{directory / "x.npy"}": expected a directory, or '
                'the name of one that can be made')
    assert refusal.startswith(expected), refusal


def check_unwritten_results(program, model, directory):
    """Checks that results that nobody gets are not taken for a failed test, nor for none."""
    for arguments in (['summary', model], ['check', directory], ['--version'], ['--help']):
        with open('/dev/full', 'w') as full:
            run = subprocess.run([program, *arguments], stdout=full, stderr=subprocess.PIPE,
                                 text=True, check=False)
        assert run.returncode == 2, (arguments, run)
        assert run.stderr == 'penstock-onnx: cannot write to the standard output\n', run


def main():
    program, model, reference = sys.argv[1:]
    tensors, metadata = safetensors.read_raw(reference)
    summary = call(program, 'summary', model)
    for part in ('input x float[batch,', 'output scores float[', 'operator Gemm', 'parameters '):
        assert part in summary, summary
    _, shape, elements = tensors['in.x']
    batch = int(metadata['batch'])
    row = len(elements) // shape[0]
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / 'x.npy').write_bytes(npy([batch, *shape[1:]], elements[:batch * row]))
        call(program, 'run', model, '--inputs', directory / 'x.npy', '--output-dir',
             directory / 'out')
        content = (directory / 'out' / 'output_0.npy').read_bytes()
        got = floats(content[10 + struct.unpack('<H', content[8:10])[0]:])
        expected = floats(tensors['out'][2])
        assert len(got) == len(expected)
        assert max(abs(a - b) for a, b in zip(got, expected)) < 1e-5, (got, expected)
        refusal = call(program, 'run', model, '--inputs', 'a.npy,b.npy', '--output-dir', name,
                       status=2)
        assert 'expected a file for each of 1 inputs, got 2' in refusal, refusal
        check_conversions(program, model, directory)
        check_refusals(program, model, directory)
        check_unwritten_results(program, model, directory)
        (directory / 'broken.onnx').write_bytes(pathlib.Path(model).read_bytes()[:-9])
        assert 'broken.onnx' in call(program, 'summary', directory / 'broken.onnx', status=2)


if __name__ == '__main__':
    main()
