"""Servers under test and their peers as processes on free loopback ports."""
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

START_TIMEOUT_S = 60


# Below the ports that the system gives to outgoing connections, so that none of those takes a port
# between the look and its use; each process begins elsewhere.
_ports = itertools.cycle(range(20000, 32000))
for _ in range(os.getpid() * 97 % 12000):
    next(_ports)


def free_port():
    for port in _ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(('127.0.0.1', port))
            except OSError:
                continue
            return port


def find_peer(name):
    """Path of a peer's binary, or None."""
    folder = os.environ.get('NARTHEX_PEERS_DIR')
    if folder and os.access(os.path.join(folder, name), os.X_OK):
        return os.path.join(folder, name)
    return shutil.which(name)


def wait_for(condition, timeout_s=START_TIMEOUT_S, what='a condition'):
    """The first true value of condition()."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f'no {what} within {timeout_s} s')
        time.sleep(0.1)


class Process:
    """A child with its output in a file; killed at close()."""

    def __init__(self, args, log_path):
        self.log_path = pathlib.Path(log_path)
        self._log = open(log_path, 'ab')
        self.child = subprocess.Popen(args, stdout=self._log, stderr=subprocess.STDOUT)

    def log(self):
        return self.log_path.read_text(errors='replace')

    def stop(self, number=signal.SIGTERM, timeout_s=60):
        """Ends the child by a signal; its exit code."""
        if self.child.poll() is None:
            self.child.send_signal(number)
        try:
            return self.child.wait(timeout_s)
        finally:
            self._log.close()

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self._log.close()


class HttpPeer(Process):
    def __init__(self, args, log_path, port, ready_path):
        super().__init__(args, log_path)
        self.port = port
        self.url = f'http://127.0.0.1:{port}'
        try:
            wait_for(lambda: self._is_ready(ready_path), what=f'answer of {args[0]}')
        except AssertionError:
            self.close()
            raise

    def _is_ready(self, path):
        if self.child.poll() is not None:
            raise AssertionError(f'the process ended: {self.log()[-2000:]}')
        try:
            return self.get(path)[0] == 200
        except OSError:
            return False

    def request(self, method, path, body=None, headers=None, timeout_s=60):
        """(status, headers, body bytes)."""
        request = urllib.request.Request(self.url + path, data=body, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters, doseq=True)
        return self.request('GET', path + ('?' + query if query else ''))

    def api(self, endpoint, **parameters):
        """The data of a successful API answer."""
        status, _, body = self.get('/api/v1/' + endpoint, **parameters)
        answer = json.loads(body)
        if status != 200:
            raise AssertionError(f'{endpoint} {parameters}: {status} {answer}')
        return answer['data']

    def query(self, text, **parameters):
        return self.api('query', query=text, **parameters)['result']

    def scalar(self, text, **parameters):
        """The value of a one-element vector, None if it is empty."""
        result = self.query(text, **parameters)
        return float(result[0]['value'][1]) if result else None


class Narthex(HttpPeer):
    def __init__(self, folder, config, *flags, port=None):
        folder = pathlib.Path(folder)
        (folder / 'prometheus.yml').write_text(config)
        port = port or free_port()
        super().__init__(
            [os.environ['NARTHEX_BIN'], f'--config.file={folder}/prometheus.yml',
             f'--storage.tsdb.path={folder}/data', f'--web.listen-address=127.0.0.1:{port}', *flags],
            folder / 'narthex.log', port, '/-/ready')


class Prometheus(HttpPeer):
    def __init__(self, folder, config, data, *flags):
        folder = pathlib.Path(folder)
        (folder / 'peer.yml').write_text(config)
        port = free_port()
        super().__init__(
            [find_peer('prometheus'), f'--config.file={folder}/peer.yml', f'--storage.tsdb.path={data}',
             f'--web.listen-address=127.0.0.1:{port}', '--storage.tsdb.retention.time=100y',
             '--enable-feature=native-histograms', *flags],
            folder / 'prometheus.log', port, '/-/ready')


class NodeExporter(HttpPeer):
    def __init__(self, folder):
        port = free_port()
        super().__init__([find_peer('prometheus-node-exporter'), f'--web.listen-address=127.0.0.1:{port}'],
                         pathlib.Path(folder) / 'node-exporter.log', port, '/metrics')


class Alertmanager(HttpPeer):
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        (folder / 'alertmanager.yml').write_text('route: {receiver: none}\nreceivers: [{name: none}]\n')
        port = free_port()
        super().__init__(
            [*self._with_templates(), find_peer('prometheus-alertmanager'), f'--config.file={folder}/alertmanager.yml',
             f'--storage.path={folder}/alertmanager', f'--web.listen-address=127.0.0.1:{port}',
             '--cluster.listen-address='],
            folder / 'alertmanager.log', port, '/-/ready')


    @staticmethod
    def _with_templates():
        """Debian's binary wants its templates under /usr/share. Where it was only unpacked, it runs in a mount
        namespace in which the /usr/share beside it is that."""
        share = pathlib.Path(find_peer('prometheus-alertmanager')).parent.parent / 'share'
        if pathlib.Path('/usr/share/prometheus/alertmanager/default.tmpl').exists() or not share.exists():
            return []
        return ['unshare', '--map-root-user', '--mount', 'sh', '-c',
                f'mount --bind "{share}" /usr/share && exec "$@"', 'sh']


class Folder:
    """A temporary folder and the processes that live in it, as a context."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix='narthex-e2e-'))
        self._processes = []
        return self

    def start(self, kind, *args, **kwargs):
        process = kind(self.path, *args, **kwargs)
        self._processes.append(process)
        return process

    def __exit__(self, *_):
        for process in reversed(self._processes):
            process.close()
        shutil.rmtree(self.path, ignore_errors=True)
