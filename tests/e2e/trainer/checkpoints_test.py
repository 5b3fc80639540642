"""Usage: checkpoints_test.py TRAINER [--kills N] [--seed S]

Stops the trainer by signals, SIGKILL among them, lets it go on from its checkpoints, and compares
what it writes with what a run writes that was never stopped. The test suite stops each run a few
times; --kills 200 is a longer test."""

import argparse
import json
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

parser = argparse.ArgumentParser()
parser.add_argument('trainer')
parser.add_argument('--kills', type=int, default=6)
parser.add_argument('--seed', type=int, default=1)
ARGUMENTS, rest = parser.parse_known_args()
sys.argv[1:] = rest
# Whoever started the tests may ignore Ctrl-C, which the trainer would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
MOST_SECONDS = 100
ENDLESS = ['--dataset', 'synthetic', '--model', 'mlp', '--batch-size', '8',
           '--gradient-accumulation', '2', '--device-iterations', '2', '--lr-schedule', 'cosine',
           '--lr-updates', '1000', '--replication-factor', '2', '--no-progress',
           '--epochs', '1000000']
SHORT = [*ENDLESS, '--max-updates', '300']
IMAGES = [*ENDLESS, '--max-updates', '1200']
TOPOLOGIES = [[], ['--strategy', 'sharded'], ['--stages', 'B1,B2,B3,B4'],
              ['--offload-optimizer', '--threads', '1'],
              ['--shard-optimizer', '--recompute', 'all']]


def wait_until(holds):
    end = time.monotonic() + MOST_SECONDS
    while not holds():
        if time.monotonic() > end:
            raise AssertionError('the trainer did not come so far')
        time.sleep(.01)


def values(metrics):
    """Returns what a metrics file says, but for what depends on time."""
    *steps, summary = [json.loads(line) for line in metrics.read_text().splitlines()]
    for step in steps:
        del step['samples_per_second']
    return steps, {name: summary['summary'].get(name) for name in
                   ('test_accuracy', 'validation_loss')}


class Checkpoints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = random.Random(ARGUMENTS.seed)

    def files(self, name):
        """Returns the options that let a run write its files to the folder `name`."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return ['--metrics', folder / 'metrics', '--save-weights', folder / 'weights',
                '--save-optimizer-state', folder / 'state']

    def start(self, *options, **settings):
        process = subprocess.Popen([ARGUMENTS.trainer, *options], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **settings)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def run_to_its_end(self, *options, code=0, **settings):
        """Returns stderr."""
        process = self.start(*options, **settings)
        notes = process.communicate(timeout=MOST_SECONDS)[1]
        self.assertEqual(process.returncode, code, notes)
        return notes

    def saved(self):
        return sorted((self.folder / 'checkpoints').glob('checkpoint-*.safetensors'))

    def checkpoints(self, *options):
        return ['--checkpoint-dir', self.folder / 'checkpoints', *options]

    def expect_same_results(self):
        for name in 'weights', 'state':
            self.assertEqual((self.folder / 'whole' / name).read_bytes(),
                             (self.folder / 'resumed' / name).read_bytes(), name)
        self.assertEqual(values(self.folder / 'whole' / 'metrics'),
                         values(self.folder / 'resumed' / 'metrics'))

    def stop_and_resume(self, options, topologies):
        begin = time.monotonic()
        self.run_to_its_end(*options, *self.files('whole'))
        seconds = time.monotonic() - begin
        resumed = [*options, *self.files('resumed'), *self.checkpoints(
            '--checkpoint-every', str(self.random.randint(1, 40)), '--keep', '2', '--resume')]
        for _ in range(ARGUMENTS.kills):
            number = self.random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM,
                                         signal.SIGINT])
            process = self.start(*resumed, *self.random.choice(topologies))
            try:
                process.wait(seconds * self.random.random())
            except subprocess.TimeoutExpired:
                process.send_signal(number)
            notes = process.communicate(timeout=MOST_SECONDS)[1]
            self.assertIn(process.returncode, (0, -number), notes)
            self.assertLessEqual(len(self.saved()), 3)
        self.assertNotIn('passed over', self.run_to_its_end(*resumed))
        self.expect_same_results()

    def test_a_run_that_is_stopped_anywhere_goes_on_to_the_same_results(self):
        self.stop_and_resume(IMAGES, TOPOLOGIES)

    def test_a_language_model_with_dropout_does_so_too(self):
        text = self.folder / 'text'
        text.write_text('To be, or not to be, that is the question.\n' * 400)
        self.stop_and_resume(
            ['--model', 'gpt', '--data-dir', text, '--layers', '2', '--heads', '2', '--width',
             '16', '--context', '16', '--dropout', '0.1', '--max-updates', '300', '--no-progress'],
            [[], ['--stages', 'auto:2'], ['--strategy', 'sharded', '--stages', 'auto:2']])

    def test_a_signal_ends_a_run_with_a_checkpoint(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number.name):
                before = self.saved()
                process = self.start(*ENDLESS, *self.checkpoints('--resume'))
                wait_until(lambda: self.saved() != before)
                process.send_signal(number)
                notes = process.communicate(timeout=MOST_SECONDS)[1]
                self.assertEqual(process.returncode, -number, notes)
                found = re.search(f'stopped by {number.name} after (\\d+) weight updates; no file '
                                  'was replaced, and --resume goes on from there', notes)
                self.assertIsNotNone(found, notes)
                self.assertEqual(self.saved()[-1].name,
                                 f'checkpoint-{int(found[1]):012}.safetensors')

    def test_a_directory_is_for_one_run_at_a_time(self):
        process = self.start(*ENDLESS, *self.checkpoints())
        lock = self.folder / 'checkpoints' / '.penstock-lock'
        wait_until(lambda: lock.exists() and lock.read_text())
        notes = self.run_to_its_end(*IMAGES, *self.checkpoints('--resume'), code=2)
        self.assertIn(f'is in use by process {process.pid}', notes)
        process.kill()
        process.communicate()
        self.run_to_its_end(*IMAGES, *self.checkpoints('--resume'))

    def test_a_run_goes_on_only_if_it_is_told_to(self):
        short = [*SHORT, *self.checkpoints()]
        self.assertIn('there is no checkpoint yet', self.run_to_its_end(*short, '--resume'))
        self.assertIn('has the checkpoints of an earlier run; --resume goes on from them',
                      self.run_to_its_end(*short, code=2))
        self.run_to_its_end(*short, '--resume')

    def test_other_options_of_the_model_are_refused(self):
        self.run_to_its_end(*SHORT, *self.checkpoints())
        changed = ['16' if option == '8' else option for option in IMAGES]
        for options, text in ((changed, '--batch-size: expected 8, got 16'),
                              ([*IMAGES, '--seed', '7'], '--seed: expected 0, got 7'),
                              ([*IMAGES, '--no-shuffle', '--learning-rate', '0.01'],
                               '--no-shuffle: expected false, got true; --learning-rate: expected '
                               '0.001, got 0.01'),
                              ([*IMAGES, '--max-grad-norm', '1'],
                               '--max-grad-norm: expected none, got 1')):
            notes = self.run_to_its_end(*options, *self.checkpoints('--resume'), code=2)
            self.assertIn(f'the options are not those of the run: {text}\n', notes)

    def test_another_number_of_replicas_is_noted(self):
        self.run_to_its_end(*SHORT, *self.checkpoints())
        longer = [*ENDLESS, '--max-updates', '600', *self.checkpoints('--resume')]
        self.assertNotIn('--replication-factor was', self.run_to_its_end(*longer))
        one = list(IMAGES)
        one[one.index('--replication-factor') + 1] = '1'
        self.assertIn('--replication-factor was 2 and is 1: ',
                      self.run_to_its_end(*one, *self.checkpoints('--resume')))

    def test_steps_of_another_size_go_on(self):
        def with_iterations(number, updates):
            options = [number if before == '--device-iterations' else option
                       for before, option in zip(['', *ENDLESS], ENDLESS)]
            return [*options, '--max-updates', updates]

        # An epoch of 12,000 images has whole steps of 3 and of 5 updates, but not of 2.
        self.run_to_its_end(*with_iterations('3', '15'), *self.checkpoints())
        self.run_to_its_end(*with_iterations('5', '300'), *self.files('whole'))
        self.assertNotIn('a step had', self.run_to_its_end(
            *with_iterations('5', '300'), *self.files('resumed'), *self.checkpoints('--resume')))
        for name in 'weights', 'state':
            self.assertEqual((self.folder / 'whole' / name).read_bytes(),
                             (self.folder / 'resumed' / name).read_bytes(), name)
        self.assertIn('--resume: a step had 160 samples and has 64: other samples of an epoch are '
                      'left out', self.run_to_its_end(*with_iterations('2', '320'),
                                                      *self.checkpoints('--resume')))

    def test_fewer_updates_than_those_that_are_done_are_noted(self):
        self.run_to_its_end(*SHORT, *self.checkpoints())
        fewer = [*ENDLESS, '--max-updates', '1', *self.checkpoints('--resume')]
        notes = self.run_to_its_end(*fewer)
        self.assertIn('--resume: the run has done 300 weight updates, more than --max-updates '
                      '1; it trains no further', notes)
        # Steps that are not taken leave no samples out.
        self.assertNotIn('a step had', notes)

    def test_a_run_whose_last_step_is_cut_goes_on_from_before_it(self):
        cut = [*ENDLESS, '--max-updates', '7']
        self.run_to_its_end(*cut, *self.checkpoints('--resume'))
        self.assertEqual([file.name for file in self.saved()],
                         ['checkpoint-000000000006.safetensors'])
        self.run_to_its_end(*SHORT, *self.files('whole'))
        self.run_to_its_end(*SHORT, *self.files('resumed'), *self.checkpoints('--resume'))
        self.expect_same_results()

    def test_a_damaged_checkpoint_is_passed_over(self):
        self.run_to_its_end(*IMAGES, *self.files('whole'))
        options = [*IMAGES, *self.checkpoints('--resume', '--checkpoint-every', '500')]
        self.run_to_its_end(*options)
        *others, newest = self.saved()
        self.assertEqual(len(others), 2)
        newest.write_bytes(newest.read_bytes()[:-1])
        self.assertIn(f'"{newest}"', self.run_to_its_end(*options, *self.files('resumed')))
        self.expect_same_results()
        for file in self.saved():
            file.write_bytes(b'')
        notes = self.run_to_its_end(*options, code=2)
        self.assertIn('no checkpoint in it is whole; with another directory, or without these '
                      'files, the run begins anew\n', notes)

    def test_a_full_disk_fails_the_run_and_keeps_the_checkpoints(self):
        self.run_to_its_end(*IMAGES, *self.files('whole'))
        self.run_to_its_end(*SHORT, *self.checkpoints())
        options = [*IMAGES, *self.files('resumed'), *self.checkpoints('--resume')]
        before = self.saved()
        notes = self.run_to_its_end(*options, code=1, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (100_000, 100_000)))
        self.assertIn('File too large', notes)
        self.assertEqual(self.saved(), before)
        self.run_to_its_end(*options)
        self.expect_same_results()


unittest.main()
