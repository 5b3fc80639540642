"""The trainer's downloads, from a server on this machine. What it serves is Fashion-MNIST, from the
directory of the distribution's package, so that the checksums are those of the real files."""

import contextlib
import http.server
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

TRAINER = sys.argv.pop(1)
SOURCE = Path('/usr/share/datasets/fashion-mnist')
NAMES = ['train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz', 't10k-images-idx3-ubyte.gz',
         't10k-labels-idx1-ubyte.gz']
LARGEST = NAMES[0]


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves `server.files`, with ranges unless `server.ranges` is false. At most
    `server.most_bytes` bytes are sent before the connection is cut or, if `server.stalls` is true,
    left open."""

    def do_GET(self):
        server = self.server
        name = self.path.rsplit('/', 1)[-1]
        wanted = re.fullmatch(r'bytes=(\d+)-', self.headers.get('Range', ''))
        begin = int(wanted[1]) if wanted and server.ranges else 0
        server.requests.append((name, int(wanted[1]) if wanted else 0))
        if server.redirection:
            self.send_response(302)
            self.send_header('Location', server.redirection + name)
            self.end_headers()
            return
        if name not in server.files:
            self.send_error(404)
            return
        content = server.files[name]
        if begin >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header('Content-Range', f'bytes {begin}-{len(content) - 1}/{len(content)}')
        self.send_header('Content-Length', str(len(content) - begin))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(content[begin:begin + server.most_bytes])
            self.wfile.flush()
            if begin + server.most_bytes < len(content):
                server.cut.set()
                if server.stalls:
                    server.closing.wait()
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(context=None, **changes):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.files = {name: (SOURCE / name).read_bytes() for name in NAMES}
    server.ranges, server.stalls, server.redirection = True, False, ''
    server.most_bytes = 1 << 40
    server.requests, server.cut, server.closing = [], threading.Event(), threading.Event()
    for name, value in changes.items():
        setattr(server, name, value)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.url = f'{"https" if context else "http"}://127.0.0.1:{server.server_port}/a/'
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()


class Downloads(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.scratch = Path(directory.name)
        self.target = self.scratch / 'new' / 'data'

    def command(self, server, *options):
        return [TRAINER, '--download', 'fashion-mnist', '--data-dir', str(self.target),
                '--download-url', server.url, *options]

    def run_trainer(self, server, *options):
        return subprocess.run(self.command(server, *options), capture_output=True, text=True,
                              timeout=120, env={**os.environ, 'no_proxy': '*'})

    def expect_nothing_left(self):
        self.assertFalse(self.target.parent.exists())

    def expect_all(self, result):
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        self.assertEqual(sorted(os.listdir(self.target)), sorted(NAMES))
        for name in NAMES:
            self.assertEqual((self.target / name).read_bytes(), (SOURCE / name).read_bytes())

    def test_put_the_files_into_place_once(self):
        with serving() as server:
            result = self.run_trainer(server)
            self.expect_all(result)
            self.assertEqual(result.stdout.splitlines(),
                             [str(self.target / name) for name in NAMES])
            self.assertEqual(server.requests, [(name, 0) for name in NAMES])
            again = self.run_trainer(server)
            self.expect_all(again)
            self.assertEqual(again.stdout.splitlines(),
                             [f'{self.target / name} is there already' for name in NAMES])
            self.assertEqual(len(server.requests), len(NAMES))

    def test_name_the_options_that_change_nothing_also_of_a_configuration(self):
        for options in ['--epochs', '3'], ['--epochs', '3', '--print-config']:
            with serving(files={}) as server:
                result = self.run_trainer(server, *options)
            self.assertIn('--download runs nothing, so that these change nothing: --epochs\n',
                          result.stderr)

    def test_go_on_after_the_program_was_killed(self):
        half = 10_000_000
        with serving(most_bytes=half, stalls=True) as server:
            trainer = subprocess.Popen(self.command(server), env={**os.environ, 'no_proxy': '*'})
            part = self.target / (LARGEST + '.penstock-part')
            end = time.monotonic() + 60
            while not (part.exists() and part.stat().st_size == half):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            trainer.send_signal(signal.SIGKILL)
            trainer.wait()
            self.assertEqual(os.listdir(self.target), [part.name])
        with serving() as server:
            self.expect_all(self.run_trainer(server))
            self.assertEqual(server.requests[0], (LARGEST, half))

    def test_go_on_after_connections_that_break(self):
        with serving(most_bytes=9_000_000) as server:
            self.expect_all(self.run_trainer(server))
            self.assertEqual([begin for name, begin in server.requests if name == LARGEST],
                             [0, 9_000_000, 18_000_000])

    def test_begin_anew_if_the_server_gives_no_ranges(self):
        self.target.mkdir(parents=True)
        (self.target / (LARGEST + '.penstock-part')).write_bytes(b'another file')
        with serving(ranges=False) as server:
            self.expect_all(self.run_trainer(server))
            self.assertEqual(server.requests[:2], [(LARGEST, 12), (LARGEST, 0)])

    def test_begin_anew_if_more_has_come_than_there_is(self):
        self.target.mkdir(parents=True)
        whole = (SOURCE / NAMES[0]).read_bytes()
        (self.target / (LARGEST + '.penstock-part')).write_bytes(whole[:-1] + b'xyz')
        with serving() as server:
            self.expect_all(self.run_trainer(server))

    def test_with_a_wrong_checksum_keep_nothing(self):
        with serving() as server:
            content = bytearray(server.files[LARGEST])
            content[len(content) // 2] ^= 1
            server.files[LARGEST] = bytes(content)
            result = self.run_trainer(server)
        self.assertEqual((result.returncode, result.stdout), (1, ''))
        self.assertRegex(result.stderr, r'^penstock-train: --download: http://127\.0\.0\.1:\d+/a/'
                         + LARGEST + ': expected a gzipped file of a content with the SHA-256 ')
        self.expect_nothing_left()

    def test_of_a_file_that_is_too_large_keep_nothing(self):
        with serving() as server:
            server.files[LARGEST] = bytes(60_000_000)
            result = self.run_trainer(server)
        self.assertEqual(result.returncode, 1)
        self.assertIn('bytes, got more', result.stderr)
        self.expect_nothing_left()

    def test_of_a_file_that_is_not_there_say_so_in_one_line(self):
        with serving(files={}) as server:
            result = self.run_trainer(server)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, '404[^;]*$')
        self.assertEqual(result.stderr.count('\n'), 1)
        self.expect_nothing_left()

    def test_follow_no_redirection_to_a_file_of_this_machine(self):
        with serving(redirection=f'file://{SOURCE}/') as server:
            result = self.run_trainer(server)
        self.assertEqual(result.returncode, 1)
        self.expect_nothing_left()

    # Continuous integration has every program that the tests need, so that this test fails there
    # rather than being skipped.
    @unittest.skipUnless(shutil.which('openssl') or os.environ.get('CI'),
                         'there is no program that makes certificates')
    def test_over_https_trust_an_authority_only_if_it_is_named(self):
        key, certificate = self.scratch / 'key.pem', self.scratch / 'certificate.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj',
                        '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1',
                        '-keyout', key, '-out', certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        with serving(context) as server:
            stranger = self.run_trainer(server)
            self.assertEqual(stranger.returncode, 1)
            self.assertIn('certificate', stranger.stderr)
            self.expect_nothing_left()
            self.expect_all(self.run_trainer(server, '--download-ca', str(certificate)))
        plain = f'http://127.0.0.1:{server.server_port}/'
        with serving(context, redirection=plain) as server:
            shutil.rmtree(self.target.parent)
            result = self.run_trainer(server, '--download-ca', str(certificate))
            self.assertEqual(result.returncode, 1)
            self.assertIn('rotocol', result.stderr)
            self.expect_nothing_left()


if __name__ == '__main__':
    if not SOURCE.is_dir():
        sys.exit(77)
    unittest.main()
