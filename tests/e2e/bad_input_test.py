"""What the world gets wrong: configurations, ports, exporters, queries."""
import http.server
import json
import os
import socket
import subprocess
import threading
import unittest
import urllib.parse

from processes import Folder, Narthex, free_port, wait_for


def run_narthex(*flags):
    """(exit code, lines above info) of a start that must fail."""
    done = subprocess.run([os.environ['NARTHEX_BIN'], *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=60, text=True)
    lines = [line for line in done.stdout.splitlines() if 'level=ERROR' in line or 'level=error' in line]
    return done.returncode, lines


class StartTest(unittest.TestCase):
    def test_a_missing_configuration_is_named(self):
        with Folder() as folder:
            code, errors = run_narthex(f'--config.file={folder.path}/none.yml', f'--storage.tsdb.path={folder.path}/d')
            self.assertEqual(code, 1)
            self.assertEqual(len(errors), 1)
            self.assertIn('none.yml', errors[0])

    def test_a_wrong_configuration_is_named_with_its_line(self):
        with Folder() as folder:
            (folder.path / 'bad.yml').write_text('global:\n  scrape_intervall: 1s\n')
            code, errors = run_narthex(f'--config.file={folder.path}/bad.yml', f'--storage.tsdb.path={folder.path}/d')
            self.assertEqual(code, 1)
            self.assertEqual(len(errors), 1)
            self.assertIn('bad.yml', errors[0])
            self.assertIn('line 2', errors[0])

    def test_a_port_in_use_is_named(self):
        with Folder() as folder, socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            port = taken.getsockname()[1]
            (folder.path / 'a.yml').write_text('')
            code, errors = run_narthex(f'--config.file={folder.path}/a.yml', f'--storage.tsdb.path={folder.path}/d',
                                       f'--web.listen-address=127.0.0.1:{port}')
            self.assertEqual(code, 1)
            self.assertEqual(len(errors), 1)
            self.assertIn(str(port), errors[0])

    def test_a_directory_in_use_is_refused(self):
        with Folder() as folder:
            folder.start(Narthex, '')
            (folder.path / 'b.yml').write_text('')
            code, errors = run_narthex(f'--config.file={folder.path}/b.yml', f'--storage.tsdb.path={folder.path}/data',
                                       f'--web.listen-address=127.0.0.1:{free_port()}')
            self.assertEqual(code, 1)
            self.assertIn('lock', errors[0])

    def test_unknown_flags_end_with_2(self):
        code, _ = run_narthex('--no-such-flag')
        self.assertEqual(code, 2)


class Exporter(http.server.BaseHTTPRequestHandler):
    """Misbehaves as its path says."""
    protocol_version = 'HTTP/1.0'
    release = threading.Event()

    def log_message(self, *_):
        pass

    def answer(self, content_type, body):
        self.send_response(200)
        if content_type:
            self.send_header('Content-Type', content_type)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        text = 'text/plain; version=0.0.4'
        proto = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
        if self.path == '/good':
            self.answer(text, b'good_metric 1\n')
        elif self.path == '/hang':
            self.release.wait(30)
        elif self.path == '/rubbish':
            self.answer(text, b'{{{ no metric\xff\xfe' + bytes(range(256)) * 100)
        elif self.path == '/half':
            self.answer(proto, b'\x80\x01\x0a\x05metri')
        elif self.path == '/huge':
            lines = b''.join(b'huge_metric{label="%09d"} 1\n' % i for i in range(100_000))
            try:
                self.answer(text, b'')
                for _ in range(36):
                    self.wfile.write(lines)
            except OSError:
                pass
        elif self.path == '/blank':
            self.answer(None, b'blank_metric 1\n')
        elif self.path == '/wrong':
            self.answer('image/png', b'png_metric 1\n')
        elif self.path == '/error':
            self.send_error(500)


class ExporterTest(unittest.TestCase):
    def test_one_bad_target_harms_nobody_else(self):
        exporter = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Exporter)
        threading.Thread(target=exporter.serve_forever, daemon=True).start()
        port = exporter.server_address[1]
        kinds = ['good', 'hang', 'rubbish', 'half', 'huge', 'blank', 'wrong', 'error']
        config = 'global: {scrape_interval: 2s, scrape_timeout: 1500ms}\nscrape_configs:\n'
        for kind in kinds:
            limit = '  body_size_limit: 10MB\n' if kind == 'huge' else ''
            config += (f"- job_name: {kind}\n  metrics_path: /{kind}\n{limit}"
                       f"  static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n")
        config += f"- job_name: nobody\n  static_configs: [{{targets: ['127.0.0.1:{free_port()}']}}]\n"
        try:
            with Folder() as folder:
                server = folder.start(Narthex, config)
                targets = wait_for(lambda: self.all_scraped(server), what='scrape of every target')
                errors = {target['scrapePool']: target['lastError'] for target in targets}
                self.assertEqual(errors.pop('good'), '')
                for job, error in errors.items():
                    self.assertTrue(error, job)
                self.assertIn('context deadline exceeded', errors['hang'])
                self.assertIn('body size limit exceeded', errors['huge'])
                self.assertIn('blank Content-Type', errors['blank'])
                self.assertIn('image/png', errors['wrong'])
                self.assertIn('500', errors['error'])
                self.assertIn('refused', errors['nobody'])
                self.assertEqual(server.scalar('good_metric'), 1)
                self.assertEqual(server.scalar('sum(up)'), 1)
                self.assertEqual(server.scalar('count(up)'), len(kinds) + 1)
        finally:
            Exporter.release.set()
            exporter.shutdown()
            exporter.server_close()

    @staticmethod
    def all_scraped(server):
        targets = server.api('targets')['activeTargets']
        return targets if all(target['health'] != 'unknown' for target in targets) else None


class QueryTest(unittest.TestCase):
    def test_bad_queries_say_where(self):
        with Folder() as folder:
            server = folder.start(Narthex, '')
            status, _, body = server.get('/api/v1/query', query='sum(up')
            answer = json.loads(body)
            self.assertEqual((status, answer['status'], answer['errorType']), (400, 'error', 'bad_data'))
            self.assertIn('1:', answer['error'])
            for parameters in ({'query': 'up', 'time': 'x'}, {'query': ''}, {'query': '"' + 'a' * 100_000},
                               {'query': '(' * 20_000}, {'query': '-' * 20_000 + '1'}):
                status, _, body = server.get('/api/v1/query', **parameters) if len(parameters['query']) < 1000 else \
                    server.request('POST', '/api/v1/query', ('query=' + parameters['query']).encode(),
                                   {'Content-Type': 'application/x-www-form-urlencoded'})
                self.assertEqual(status, 400, body[:200])
            self.assertEqual(server.get('/-/healthy')[0], 200)

    def test_bad_requests_are_answered(self):
        with Folder() as folder:
            server = folder.start(Narthex, '')
            for request in (b'rubbish\r\n\r\n', b'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
                            b'GET ' + b'/' * 200_000 + b' HTTP/1.1\r\n\r\n', b'\x00' * 1000,
                            b'POST /api/v1/query HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'):
                with socket.create_connection(('127.0.0.1', server.port), timeout=10) as connection:
                    try:
                        connection.sendall(request)
                        connection.shutdown(socket.SHUT_WR)
                        answer = connection.recv(65_536)
                    except OSError:
                        answer = b''
                    self.assertTrue(not answer or answer.startswith(b'HTTP/1.1 4'), answer[:100])
            self.assertEqual(server.get('/-/healthy')[0], 200)
            self.assertEqual(server.get('/no/such/path')[0], 404)


class SlowClientTest(unittest.TestCase):
    def test_clients_that_do_not_read_hold_up_neither_queries_nor_the_end(self):
        series = ' or '.join(f'label_replace(vector(time()), "a", "{i}", "", "")' for i in range(40))
        with Folder() as folder:
            server = folder.start(Narthex, '')
            path = '/api/v1/query_range?' + urllib.parse.urlencode(
                {'query': series, 'start': 0, 'end': 10_000, 'step': 1})
            clients = []
            try:
                for _ in range(25):  # More than queries run at a time.
                    client = socket.socket()
                    clients.append(client)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    client.connect(('127.0.0.1', server.port))
                    client.sendall(f'GET {path} HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
                self.assertEqual(server.query('1')[1], '1')
                self.assertEqual(server.stop(timeout_s=30), 0)
            finally:
                for client in clients:
                    client.close()


if __name__ == '__main__':
    unittest.main()
