"""Usage: interruption_test.py TRAINER

Interrupts the trainer by signals, as a user does with Ctrl-C and a service manager with SIGTERM,
and checks what is left behind."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TRAINER = sys.argv.pop(1)
# Whoever started the tests may ignore Ctrl-C, which the trainer would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
# This run would take hours.
LONG = [TRAINER, '--dataset', 'synthetic', '--model', 'mlp', '--batch-size', '8',
        '--gradient-accumulation', '2', '--device-iterations', '5', '--epochs', '1000000',
        '--no-progress']
MOST_SECONDS = 100


def wait_until(holds):
    end = time.monotonic() + MOST_SECONDS
    while not holds():
        if time.monotonic() > end:
            raise AssertionError('the trainer did not come so far')
        time.sleep(.01)


def is_pending(pid, number):
    """Says whether a signal waits for a thread of the process to take it."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'ShdPnd:\s+(\w+)', status)[1], 16) >> (number - 1) & 1 == 1


def fill(pipe):
    """Writes to a pipe until nothing more goes into it."""
    end = os.open(f'/proc/self/fd/{pipe}', os.O_WRONLY | os.O_NONBLOCK)
    for size in 4096, 1:
        try:
            while True:
                os.write(end, bytes(size))
        except BlockingIOError:
            pass
    os.close(end)


class Interruption(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, 'XDG_RUNTIME_DIR': str(self.folder)}
        self.socket = None

    def begin(self, *options, stderr=subprocess.PIPE):
        """Starts the long run and waits until it has trained for some steps."""
        events = self.folder / 'events'
        shutil.rmtree(events, ignore_errors=True)
        process = subprocess.Popen([*LONG, '--tensorboard', events, *options],
                                   env=self.environment, stdout=subprocess.PIPE,
                                   stderr=stderr, text=True)
        self.addCleanup(process.kill)
        self.socket = self.folder / 'penstock' / f'{process.pid}.sock'
        wait_until(lambda: process.poll() is not None or
                   any(file.stat().st_size > 10_000 for file in events.glob('*')))
        if process.poll() is not None:
            self.fail(f'the trainer ended too early: {process.communicate()}')
        return process

    def end(self, process, number):
        """Sends a signal. Returns stdout, stderr and the number of the updates that were done."""
        self.assertTrue(self.socket.exists())
        process.send_signal(number)
        output, notes = process.communicate(timeout=MOST_SECONDS)
        self.assertEqual(process.returncode, -number, notes)
        self.assertFalse(self.socket.exists(), 'the socket of the monitor is left behind')
        found = re.search(r'stopped by (\w+) after (\d+) weight updates', notes)
        self.assertIsNotNone(found, notes)
        self.assertEqual(found[1], number.name)
        return output, notes, int(found[2])

    def test_no_file_is_replaced_and_nothing_is_left_behind(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number.name):
                weights, metrics = self.folder / 'weights', self.folder / 'metrics'
                metrics.write_text('before')
                output, notes, updates = self.end(
                    self.begin('--save-weights', weights, '--metrics', metrics), number)
                self.assertEqual(output, '', 'there is no accuracy')
                self.assertIn('no file was replaced', notes)
                self.assertGreater(updates, 0)
                self.assertEqual(metrics.read_text(), 'before')
                self.assertEqual({path.name for path in self.folder.iterdir()},
                                 {'events', 'penstock', 'metrics'})

    def test_a_signal_that_is_ignored_stays_ignored(self):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            process = self.begin()
        finally:
            signal.signal(signal.SIGINT, before)
        for _ in range(3):
            process.send_signal(signal.SIGINT)
        self.end(process, signal.SIGTERM)

    def test_a_second_signal_ends_the_process_at_once(self):
        # The trainer cannot come to its end after the first signal, because nobody reads what it
        # then writes to a full pipe.
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        process = self.begin(stderr=writer)
        fill(writer)
        os.close(writer)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: not is_pending(process.pid, signal.SIGINT))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=MOST_SECONDS)
        self.assertEqual(process.returncode, -signal.SIGTERM)


unittest.main()
