"""Runs ONNX's own backend tests, and compares what is unsupported with the list that is known.

Usage: backend_test.py PROGRAM LIST DATA [--write]

PROGRAM is penstock-onnx, LIST the file unsupported.txt, and DATA the folder of Debian's package
libonnx-testdata. No test may fail, and exactly those may be unsupported that LIST names, each with
the reason; all others pass. --write writes LIST anew.
"""

import pathlib
import re
import subprocess
import sys

FOLDERS = 1072  # The list is for ONNX 1.12, which has so many.


def reason_of(text):
    """Returns what is missing, without the names of nodes and files, and without advice."""
    text = re.sub(r'^ONNX tensor \S+: tensor "[^"]*": ', '', text)
    text = re.sub(r'; export the model .*', '', text)
    text = re.sub(r'^(?:this|these) nodes? cannot be imported: (\w+) \([^)]*\): ', r'\1: ', text)
    return re.sub(r': [0-9.]{9,}$', '', text)


def check_summary(program, data):
    """Checks that a summary marks an operator of which a node is in a form that is refused."""
    for path in data.glob('node/test_maxpool_with_argmax_2d_precomputed_pads/model.onnx'):
        run = subprocess.run([program, 'summary', path], capture_output=True, text=True, check=True)
        assert 'operator MaxPool 1, 1 of 1 refused\n' in run.stdout, run.stdout
        assert 'its output of indices has no counterpart' in run.stdout, run.stdout


def main():
    program, known, data = sys.argv[1:4]
    folders = sorted(path.parent for path in pathlib.Path(data).glob('*/*/model.onnx'))
    run = subprocess.run([program, 'check', *folders], capture_output=True, text=True,
                         errors='replace', check=False)
    lines = run.stdout.splitlines()
    failed = [line for line in lines if line.startswith('fail ')]
    assert not failed and run.returncode == 0, '\n'.join(failed) + run.stderr
    passed, _, unsupported = (int(number) for number in re.findall(r'\d+', lines[-1]))
    assert passed + unsupported == len(folders), lines[-1]
    found = sorted(f'{name}: {reason_of(text)}' for status, name, text in
                   (line.split(' ', 2) for line in lines if line.startswith('unsupported ')))
    if sys.argv[4:] == ['--write']:
        pathlib.Path(known).write_text('\n'.join(found) + '\n')
    elif len(folders) == FOLDERS:
        listed = pathlib.Path(known).read_text().splitlines()
        assert found == listed, '\n'.join(sorted(set(found) ^ set(listed)))
    check_summary(program, pathlib.Path(data))
    print(lines[-1])


if __name__ == '__main__':
    main()
