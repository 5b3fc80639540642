"""Runs the trainer under many limits of its memory, and expects that it ends by itself.

Usage: memory_limits.py TRAINER [--settings N] [--seed S]

Each run has an address space of its own size, as `ulimit -v` gives it, from too little to begin
with to plenty, and one of a few configurations, which is drawn. A run has to end within two minutes
with code 0, 1 or 2, never by a signal. A run that does not end with 0 has to say why in a last line
that begins with the program's name. If the C library ends a run, because a thread could not
register a destructor, that is as wrong as any other end by a signal, and is counted separately. The
test suite makes a few runs; a longer test is

    tests/tools/memory_limits.py build-test/apps/trainer/penstock-train --settings 1000
"""

import argparse
import collections
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

SECONDS = 120
MIB = 1 << 20
COMMON = ['--dataset', 'synthetic', '--model', 'mlp', '--batch-size', '8', '--device-iterations',
          '5', '--gradient-accumulation', '2', '--max-updates', '12']
CONFIGURATIONS = [
    [],
    ['--strategy', 'sharded'],
    ['--threads', '1', '--num-workers', '0'],
    ['--replication-factor', '2', '--offload-optimizer'],
    ['--model', 'mnist-cnn', '--threads-per-ipu', '2'],
]


def configuration(arguments):
    """Returns `arguments` after those of the common options that `arguments` does not have."""
    kept = []
    for name, value in zip(COMMON[::2], COMMON[1::2]):
        if name not in arguments:
            kept += [name, value]
    return kept + arguments


def run(trainer, arguments, limit):
    """Returns the exit code (None for a hang), the last line of stderr, and the files left over."""
    def restrict():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        files = ['--save-weights', f'{folder}/weights', '--metrics', f'{folder}/metrics']
        try:
            done = subprocess.run([trainer, *configuration(arguments), *files], timeout=SECONDS,
                                  capture_output=True, preexec_fn=restrict, check=False)
        except subprocess.TimeoutExpired:
            return None, '', []
        left = sorted(path.name for path in pathlib.Path(folder).iterdir())
    lines = done.stderr.decode(errors='replace').splitlines()
    last = lines[-1] if lines else ''
    return done.returncode, ' | '.join(lines[-2:]) if done.returncode < 0 else last, left


def is_ended_by_the_c_library(code, line):
    return code is not None and code < 0 and 'failed to register TLS destructor' in line


def complaint(code, line, left):
    """Returns what is wrong with the end of a run, or an empty text."""
    if code is None:
        return f'it did not end within {SECONDS} s'
    if code < 0:
        return f'signal {-code}, after {line!r}'
    if code not in (0, 1, 2):
        return f'code {code}'
    if code != 0 and not line.startswith('penstock-train: '):
        return f'no reason in its last line: {line!r}'
    if code != 0 and left:
        return f'it left {left}'
    return ''


def least_limit(trainer):
    """Returns the bytes of memory below which the system cannot load the program."""
    for mib in range(8, 4096, 4):
        def restrict():
            resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB))
        try:
            done = subprocess.run([trainer, '--help'], capture_output=True, preexec_fn=restrict,
                                  check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return mib * MIB
    sys.exit('the trainer cannot be loaded')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('trainer')
    parser.add_argument('--settings', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=1)
    given = parser.parse_args()
    drawn = random.Random(given.seed)
    least = least_limit(given.trainer)
    ends = collections.Counter()
    bad = ended_by_the_c_library = 0
    for number in range(given.settings):
        arguments = drawn.choice(CONFIGURATIONS)
        limit = least + drawn.randrange(1200 * MIB)
        code, line, left = run(given.trainer, arguments, limit)
        ends[code] += 1
        ended_by_the_c_library += is_ended_by_the_c_library(code, line)
        wrong = complaint(code, line, left)
        if wrong:
            bad += 1
            print(f'setting {number}: {limit} bytes, {arguments}: {wrong}', flush=True)
    print(f'{given.settings} settings from {least} bytes on; ends by code: {dict(ends)}; '
          f'{bad} wrong, of which the C library ended {ended_by_the_c_library}')
    sys.exit(1 if bad else 0)


main()
