"""The trainer's numbers, as other programs read them: event files of TensorBoard, and the page for
Prometheus. The reader of event files here shares no code with the writer."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

TRAINER = sys.argv.pop(1)
QUICK = [TRAINER, '--dataset', 'synthetic', '--model', 'mlp', '--batch-size', '8',
         '--gradient-accumulation', '2', '--device-iterations', '5', '--no-progress']


def crc32c(data):
    """CRC-32C by polynomial division of the whole message, bit by bit, the highest power first."""
    def reflected(value, bits):
        return int(f'{value:0{bits}b}'[::-1], 2)
    bits = ''.join(f'{reflected(byte, 8):08b}' for byte in data) + '0' * 32
    rest = int(bits, 2) ^ (0xFFFFFFFF << (len(bits) - 32))
    for at in range(len(bits) - 1, 31, -1):
        if rest >> at & 1:
            rest ^= 0x11EDC6F41 << (at - 32)
    return reflected(rest, 32) ^ 0xFFFFFFFF


def unmasked(value):
    value = (value - 0xA282EAD8) & 0xFFFFFFFF
    return ((value << 15) | (value >> 17)) & 0xFFFFFFFF


def records(content):
    at = 0
    while at < len(content):
        length, length_crc = struct.unpack_from('<QI', content, at)
        assert unmasked(length_crc) == crc32c(content[at:at + 8]), 'checksum of a length'
        data = content[at + 12:at + 12 + length]
        (crc,) = struct.unpack_from('<I', content, at + 12 + length)
        assert len(data) == length and unmasked(crc) == crc32c(data), 'checksum of a record'
        yield data
        at += 16 + length


def fields(message):
    """[(number, wire type, value), ...] of a message of Protocol Buffers."""
    at = 0

    def varint():
        nonlocal at
        number, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 1:
            value, at = struct.unpack_from('<d', message, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from('<f', message, at)[0], at + 4
        else:
            assert kind == 2
            length = varint()
            value, at = message[at:at + length], at + length
        yield key >> 3, kind, value


def events(path):
    """[(wall time, step, {tag: value}), ...], without the first event, which has the version."""
    first, *others = records(path.read_bytes())
    assert dict((number, value) for number, _, value in fields(first))[3] == b'brain.Event:2'
    for record in others:
        event = {number: value for number, _, value in fields(record)}
        scalars = {}
        for number, _, value in fields(event[5]):
            assert number == 1
            scalar = {n: v for n, _, v in fields(value)}
            scalars[scalar[1].decode()] = scalar[2]
        yield event[1], event[2], scalars


def first_match(pattern, lines):
    """Returns the first group of the first line that has the pattern."""
    return next(found[1] for line in lines if (found := re.search(pattern, line)))


def resident_bytes(pid):
    """Returns the most memory that a process has had in RAM so far."""
    return int(re.search(r'VmHWM:\s+(\d+) kB', Path(f'/proc/{pid}/status').read_text())[1]) << 10


def steps_of(port):
    """Returns how many steps a run has done. It may have no place for us at once."""
    deadline = time.time() + 60
    while time.time() < deadline:
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/metrics', timeout=10) as answer:
                found = re.search(r'^penstock_steps_total (\d+)', answer.read().decode(), re.M)
                return int(found[1]) if found else 0
        except OSError:
            time.sleep(.1)
    raise AssertionError('nobody answers')


def knock(family, address):
    """Returns a socket that has asked for a connection, and waits for nothing."""
    stranger = socket.socket(family)
    stranger.setblocking(False)
    stranger.connect_ex(address)
    return stranger


def shout(family, address, request):
    """Sends a request as far as it is taken, and reads nothing."""
    with socket.socket(family) as stranger:
        stranger.settimeout(10)
        try:
            stranger.connect(address)
            stranger.sendall(request)
        except OSError:
            pass  # The other side has hung up.


class LiveOutputs(unittest.TestCase):

    def test_event_files_have_the_numbers_of_steps_epochs_and_the_test(self):
        with tempfile.TemporaryDirectory() as directory:
            runs, metrics = Path(directory, 'runs'), Path(directory, 'metrics.jsonl')
            begin = time.time()
            for _ in range(2):
                subprocess.run(QUICK + ['--max-updates', '12', '--tensorboard', str(runs),
                                        '--metrics', str(metrics)], check=True, timeout=120,
                               stdout=subprocess.DEVNULL)
            files = sorted(runs.iterdir())
            self.assertEqual(len(files), 2, 'each run has a file of its own')
            for path in files:
                seen = list(events(path))
                times = [at for at, _, _ in seen]
                self.assertEqual(times, sorted(times))
                self.assertTrue(begin <= times[0] <= time.time())
                steps = [(step, scalars) for _, step, scalars in seen if 'train/loss' in scalars]
                self.assertEqual([step for step, _ in steps], [5, 10, 12])
                for _, scalars in steps:
                    self.assertEqual(set(scalars), {'train/loss', 'train/accuracy',
                                                    'train/learning_rate',
                                                    'train/samples_per_second'})
                    self.assertAlmostEqual(scalars['train/learning_rate'], 0.001)
                    self.assertGreater(scalars['train/samples_per_second'], 0)
                (epoch,) = [scalars for _, _, scalars in seen if 'epoch/loss' in scalars]
                self.assertTrue(0 < epoch['epoch/idle'] < 1, epoch)
                self.assertIn('test/accuracy', seen[-1][2])
            lines = metrics.read_text().splitlines()[:3]
            losses = [float(re.search(r'"loss":([^,]+)', line)[1]) for line in lines]
            written = [scalars['train/loss'] for _, _, scalars in events(files[-1])
                       if 'train/loss' in scalars]
            for expected, value in zip(losses, written):
                self.assertAlmostEqual(value, expected, places=5)

    def test_event_files_have_the_bubble_of_a_profiled_run(self):
        with tempfile.TemporaryDirectory() as directory:
            runs = Path(directory, 'runs')
            subprocess.run(QUICK + ['--max-updates', '12', '--tensorboard', str(runs), '--profile',
                                    '--profile-dir', str(Path(directory, 'profile'))],
                           check=True, timeout=120, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            bubbles = [scalars['profile/bubble'] for path in runs.iterdir()
                       for _, _, scalars in events(path) if 'profile/bubble' in scalars]
            self.assertEqual(len(bubbles), 1)
            self.assertTrue(0 <= bubbles[0] <= 1)
            for part in 'training', 'inference':
                trace = json.loads(Path(directory, 'profile', part, 'trace.json').read_text())
                rows = {event['tid']: event['args']['name'] for event in trace['traceEvents']
                        if event['name'] == 'thread_name' and event['pid'] == 1}
                self.assertTrue({'calls', 'reader 0', 'reader 1'} <= set(rows.values()), rows)
                self.assertEqual(len(rows), len(set(rows.values())))

    def test_prometheus_reads_the_numbers_while_the_run_goes_on(self):
        with subprocess.Popen(QUICK + ['--epochs', '1000000', '--metrics-port', '0'],
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              text=True) as trainer:
            try:
                for line in trainer.stderr:
                    found = re.search(r'http://127\.0\.0\.1:[0-9]+/metrics', line)
                    if found:
                        break
                numbers = {}
                deadline = time.time() + 120
                while numbers.get('penstock_steps_total', 0) < 2 and time.time() < deadline:
                    with urllib.request.urlopen(found[0], timeout=10) as answer:
                        self.assertEqual(answer.headers['Content-Type'],
                                         'text/plain; version=0.0.4; charset=utf-8')
                        page = answer.read().decode()
                    numbers = {line.split()[0]: float(line.split()[1])
                               for line in page.splitlines() if not line.startswith('#')}
                self.assertGreaterEqual(numbers['penstock_steps_total'], 2)
                self.assertGreater(numbers['penstock_loss'], 0)
                self.assertEqual(numbers['penstock_updates_total'],
                                 5 * numbers['penstock_steps_total'])
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    urllib.request.urlopen(found[0] + '/more', timeout=10)
                self.assertEqual(refused.exception.code, 404)
                refused.exception.close()
            finally:
                trainer.kill()

    def test_strangers_cost_no_memory_and_do_not_stop_the_training(self):
        # AddressSanitizer keeps up to 256 MB that were freed, which would count as the strangers'.
        sanitizer = os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=1'
        with tempfile.TemporaryDirectory() as directory, \
                subprocess.Popen(QUICK + ['--epochs', '1000000', '--metrics-port', '0'],
                                 stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                 env={**os.environ, 'XDG_RUNTIME_DIR': directory,
                                      'ASAN_OPTIONS': sanitizer}) as trainer:
            try:
                port = int(first_match(r'127\.0\.0\.1:([0-9]+)/metrics', trainer.stderr))
                places = [(socket.AF_INET, ('127.0.0.1', port)),
                          (socket.AF_UNIX, f'{directory}/penstock/{trainer.pid}.sock')]
                deadline = time.time() + 120
                # After five steps, the trainer has all the memory that it needs.
                while (steps := steps_of(port)) < 5 and time.time() < deadline:
                    time.sleep(.1)
                before = resident_bytes(trainer.pid)
                for place in places:
                    for request in b'\0\xff?\n', b'GET /' + bytes(1 << 24), b'\n' * 100_000:
                        shout(*place, request)
                    crowd = [knock(*place) for _ in range(500)]
                    for stranger in crowd:
                        stranger.close()
                self.assertLess(resident_bytes(trainer.pid) - before, 16 << 20)
                self.assertIsNone(trainer.poll())
                deadline = time.time() + 120
                while steps_of(port) < steps + 2 and time.time() < deadline:
                    time.sleep(.1)
                self.assertGreaterEqual(steps_of(port), steps + 2)
            finally:
                trainer.kill()

    def test_a_port_that_is_taken_is_refused_before_the_first_step(self):
        with subprocess.Popen(QUICK + ['--epochs', '1000000', '--metrics-port', '0'],
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              text=True) as trainer:
            try:
                port = first_match(r'127\.0\.0\.1:([0-9]+)/metrics', trainer.stderr)
                refused = subprocess.run(QUICK + ['--metrics-port', port], text=True,
                                         capture_output=True, timeout=120)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(f'--metrics-port: cannot have port {port} of 127.0.0.1',
                              refused.stderr)
            finally:
                trainer.kill()


if __name__ == '__main__':
    unittest.main()
