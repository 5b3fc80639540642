"""Usage: terminal_test.py TRAINER

Runs the trainer on a terminal, on a pipe, and with --no-progress, and checks which progress it
shows where: loading, compiling, training and testing, in this order, and nothing of it on
stdout."""
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import unittest

TRAINER = sys.argv.pop(1)


def write_images(folder):
    """Writes the four IDX files of a tiny MNIST."""
    for name, count in {'train': 40, 't10k': 16}.items():
        pixels = bytes((7 * i) % 256 for i in range(count * 28 * 28))
        images = struct.pack('>IIII', 0x803, count, 28, 28) + pixels
        labels = struct.pack('>II', 0x801, count) + bytes(i % 10 for i in range(count))
        (folder / f'{name}-images-idx3-ubyte').write_bytes(images)
        (folder / f'{name}-labels-idx1-ubyte').write_bytes(labels)


def read_terminal(descriptor):
    """Returns what was written to a terminal until its last writer closed it."""
    text = b''
    while True:
        try:
            part = os.read(descriptor, 1 << 16)
        except OSError:
            return text.decode()
        if not part:
            return text.decode()
        text += part


class Terminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        write_images(pathlib.Path(folder.name))
        self.command = [TRAINER, '--dataset', 'mnist', '--data-dir', folder.name, '--model', 'mlp',
                        '--batch-size', '8', '--test-batch-size', '8', '--device-iterations', '1',
                        '--gradient-accumulation', '1']

    def on_terminal(self, *options):
        """Returns stdout, and what stderr has shown on a terminal."""
        terminal, end = pty.openpty()
        process = subprocess.Popen([*self.command, *options], stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        shown = read_terminal(terminal)
        os.close(terminal)
        output = process.stdout.read().decode()
        process.stdout.close()
        self.assertEqual(process.wait(), 0, shown)
        return output, shown

    def test_bars_are_shown_in_the_order_of_the_work(self):
        output, shown = self.on_terminal()
        self.assertRegex(output, r'^Accuracy on test set: [0-9.]+%\n$')
        places = [shown.find(title + '\r\n\r') for title in
                  ('Loading images', 'Compiling for training', 'Compiling for inference',
                   'Epoch 1/3', 'Epoch 3/3', 'Test')]
        self.assertNotIn(-1, places, shown)
        self.assertEqual(places, sorted(places), shown)

    def test_nothing_is_shown_without_progress(self):
        output, shown = self.on_terminal('--no-progress')
        self.assertIn('Accuracy on test set', output)
        self.assertNotIn('it/s]', shown)
        self.assertNotIn('Loading images', shown)

    def test_a_pipe_gets_no_bar(self):
        result = subprocess.run(self.command, capture_output=True, text=True, check=True)
        self.assertNotIn('Loading images', result.stderr)
        self.assertNotIn('\r', result.stderr)


if __name__ == '__main__':
    unittest.main()
