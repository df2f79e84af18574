"""The HTTP API over samples that came in by remote write and by scraping itself."""
import json
import struct
import time
import unittest

from processes import Folder, Narthex, free_port, wait_for


def varint(value):
    out = b''
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    """A length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def sample(time_ms, value):
    return b'\x09' + struct.pack('<d', value) + b'\x10' + varint(time_ms)


def zigzag(value):
    return value << 1 if value >= 0 else (-value << 1) - 1


def histogram(time_ms):
    """Schema 0, buckets (0.5,1]: 2 and (1,2]: 1, zero bucket 1; count 4, sum 5."""
    span = b'\x08' + varint(zigzag(0)) + b'\x10' + varint(2)
    return (b'\x08\x04' + b'\x19' + struct.pack('<d', 5) + b'\x20' + varint(zigzag(0)) +
            b'\x29' + struct.pack('<d', 0.001) + b'\x30\x01' + field(11, span) +
            field(12, varint(zigzag(2)) + varint(zigzag(-1))) + b'\x78' + varint(time_ms))


def series(labels, samples=(), histograms=()):
    out = b''.join(field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in sorted(labels.items()))
    out += b''.join(field(2, one) for one in samples)
    return field(1, out + b''.join(field(4, one) for one in histograms))


def snappy_literal(data):
    """`data` as a snappy block of literals."""
    out = varint(len(data))
    for begin in range(0, len(data), 60):
        piece = data[begin:begin + 60]
        out += bytes([len(piece) - 1 << 2]) + piece
    return out


HEADERS = {'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy',
           'X-Prometheus-Remote-Write-Version': '0.1.0'}


class ApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder().__enter__()
        cls.addClassCleanup(cls.folder.__exit__)
        cls.port = free_port()
        config = ('global: {scrape_interval: 1s, external_labels: {dc: x}}\nscrape_configs:\n- job_name: self\n'
                  f"  static_configs: [{{targets: ['127.0.0.1:{cls.port}']}}]\n")
        cls.server = cls.folder.start(Narthex, config, '--web.enable-remote-write-receiver',
                                      '--web.enable-lifecycle', port=cls.port)
        cls.now_ms = int(time.time()) * 1000
        body = b''.join(
            series({'__name__': 'm', 'a': str(i)}, [sample(cls.now_ms - 15_000 * (20 - k), i * 100 + k) for k in range(20)])
            for i in range(3))
        body += series({'__name__': 'h'}, histograms=[histogram(cls.now_ms - 1000)])
        status, _, answer = cls.server.request('POST', '/api/v1/write', snappy_literal(body), HEADERS)
        assert status == 204, (status, answer)

    def at(self):
        return self.now_ms / 1000

    def test_instant_vectors(self):
        result = self.server.query('m', time=self.at())
        self.assertEqual(sorted((r['metric']['a'], r['value'][1]) for r in result),
                         [('0', '19'), ('1', '119'), ('2', '219')])
        self.assertEqual(result[0]['value'][0], self.at())

    def test_scalars_and_strings(self):
        self.assertEqual(self.server.api('query', query='1e21', time='0.05'),
                         {'resultType': 'scalar', 'result': [0.05, '1e+21']})
        self.assertEqual(self.server.api('query', query='"x"', time='1'), {'resultType': 'string', 'result': [1, 'x']})

    def test_range_queries(self):
        data = self.server.api('query_range', query='sum(rate(m[1m]))', start=self.at() - 120, end=self.at() - 30, step=15)
        self.assertEqual(data['resultType'], 'matrix')
        self.assertEqual(len(data['result'][0]['values']), 7)
        for _, value in data['result'][0]['values']:
            self.assertAlmostEqual(float(value), 3 / 15)

    def test_native_histograms(self):
        result = self.server.query('h', time=self.at())[0]['histogram'][1]
        self.assertEqual((result['count'], result['sum']), ('4', '5'))
        self.assertEqual(result['buckets'], [[3, '-0.001', '0.001', '1'], [0, '0.5', '1', '2'], [0, '1', '2', '1']])
        self.assertEqual(self.server.scalar('histogram_fraction(0,1,h)', time=self.at()), 0.75)

    def test_series_labels_and_values(self):
        self.assertEqual(self.server.api('series', **{'match[]': 'm{a=~"0|1"}'}),
                         [{'__name__': 'm', 'a': '0'}, {'__name__': 'm', 'a': '1'}])
        self.assertEqual(self.server.api('labels', **{'match[]': 'm'}), ['__name__', 'a'])
        self.assertEqual(self.server.api('label/a/values'), ['0', '1', '2'])
        status, _, body = self.server.get('/api/v1/label/a/values', limit=2)
        self.assertEqual(json.loads(body)['warnings'], ['results truncated due to limit'])
        self.assertEqual(self.server.get('/api/v1/series')[0], 400)

    def test_errors(self):
        for path, parameters, status, kind in (
                ('query', {'query': 'm +'}, 400, 'bad_data'),
                ('query_range', {'query': 'm', 'start': 0, 'end': 1}, 400, 'bad_data'),
                ('query_range', {'query': 'm', 'start': 0, 'end': 100_000, 'step': 1}, 400, 'bad_data'),
                ('query', {'query': 'm', 'timeout': 'x'}, 400, 'bad_data'),
                ('query', {'query': 'm * on() m'}, 422, 'execution')):
            code, _, body = self.server.get('/api/v1/' + path, **parameters)
            answer = json.loads(body)
            self.assertEqual((code, answer['errorType']), (status, kind), answer)

    def test_status_pages(self):
        self.assertEqual(self.server.api('status/buildinfo')['version'], '3.14.0')
        self.assertEqual(self.server.api('status/flags')['storage.tsdb.path'], f'{self.folder.path}/data')
        self.assertIn('dc: "x"', self.server.api('status/config')['yaml'].replace('"dc"', 'dc'))
        self.assertTrue(self.server.api('status/runtimeinfo')['reloadConfigSuccess'])
        wait_for(lambda: self.server.query('up'), what='scrape of itself')
        self.assertGreater(self.server.api('status/tsdb')['headStats']['numSeries'], 4)

    def test_own_metrics_in_all_formats(self):
        for accept, kind, text in (('', 'text/plain; version=0.0.4', b'\nprometheus_build_info{'),
                                   ('application/openmetrics-text;version=1.0.0', 'application/openmetrics-text', b'# EOF\n'),
                                   ('application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;'
                                    'encoding=delimited', 'application/vnd.google.protobuf', b'prometheus_build_info')):
            status, headers, body = self.server.request('GET', '/metrics', headers={'Accept': accept})
            self.assertEqual(status, 200)
            self.assertTrue(headers['Content-Type'].startswith(kind), headers['Content-Type'])
            self.assertIn(text, body)

    def test_write_errors(self):
        status, _, _ = self.server.request('POST', '/api/v1/write', b'rubbish', HEADERS)
        self.assertEqual(status, 400)
        old = snappy_literal(series({'__name__': 'm', 'a': '0'}, [sample(self.now_ms - 60_000, 7)]))
        status, _, body = self.server.request('POST', '/api/v1/write', old, HEADERS)
        self.assertEqual(status, 400, body)

    def test_compression_and_cors(self):
        status, headers, body = self.server.request('GET', '/api/v1/status/flags',
                                                    headers={'Accept-Encoding': 'gzip', 'Origin': 'http://x'})
        self.assertEqual((status, headers['Content-Encoding'], headers['Access-Control-Allow-Origin']),
                         (200, 'gzip', '*'))
        self.assertEqual(body[:2], b'\x1f\x8b')
        self.assertEqual(self.server.request('OPTIONS', '/api/v1/query')[0], 204)

    def test_reload(self):
        config = self.folder.path / 'prometheus.yml'
        good = config.read_text()
        try:
            config.write_text('nonsense: 1\n')
            status, _, body = self.server.request('POST', '/-/reload')
            self.assertEqual(status, 500)
            self.assertIn(b'line 1', body)
            self.assertIn('self', self.server.api('scrape_pools')['scrapePools'])
            config.write_text(good.replace('job_name: self', 'job_name: renamed'))
            self.assertEqual(self.server.request('POST', '/-/reload')[0], 200)
            self.assertEqual(self.server.api('scrape_pools')['scrapePools'], ['renamed'])
        finally:
            config.write_text(good)
            self.server.request('POST', '/-/reload')
        wait_for(lambda: self.server.api('scrape_pools')['scrapePools'] == ['self'], what='the old pool')


if __name__ == '__main__':
    unittest.main()
