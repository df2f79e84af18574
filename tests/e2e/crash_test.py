"""What was committed is there after SIGKILL, and the real Prometheus reads the directory."""
import signal
import time
import unittest

from processes import Folder, Narthex, NodeExporter, Prometheus, find_peer, free_port, wait_for

CONFIG = '''
global: {{scrape_interval: 1s, scrape_native_histograms: true}}
scrape_configs:
- job_name: narthex
  static_configs: [{{targets: ['127.0.0.1:{port}']}}]
{more}'''


def as_key(labels):
    return tuple(sorted(labels.items()))


def raw_samples(server, end):
    """Every sample of the last ten minutes up to `end`: {labels: {time: value or histogram}}."""
    out = {}
    for series in server.query('{__name__!=""}[10m]', time=end):
        points = dict(series.get('values', []))
        points.update((time_s, repr(histogram)) for time_s, histogram in series.get('histograms', []))
        out[as_key(series['metric'])] = points
    return out


def missing_samples(before, after):
    return [(key, time_s, value) for key, points in before.items() for time_s, value in points.items()
            if after.get(key, {}).get(time_s) != value]


class CrashTest(unittest.TestCase):
    def start(self, folder, port, more):
        return folder.start(Narthex, CONFIG.format(port=port, more=more), '--web.enable-lifecycle', port=port)

    def test_committed_samples_survive_sigkill_again_and_again(self):
        with Folder() as folder:
            port = free_port()
            more = ''
            if find_peer('prometheus-node-exporter'):
                node = folder.start(NodeExporter)
                more = f"- job_name: node\n  static_configs: [{{targets: ['127.0.0.1:{node.port}']}}]\n"
            before = {}
            for _ in range(3):
                server = self.start(folder, port, more)
                now = time.time()
                self.assertEqual(missing_samples(before, raw_samples(server, now)), [])
                wait_for(lambda: (server.scalar('count_over_time(up{job="narthex"}[10m])', time=time.time()) or 0)
                         >= len(before.get(as_key({'__name__': 'up', 'job': 'narthex',
                                                   'instance': f'127.0.0.1:{port}'}), {})) + 3,
                         what='three more scrapes')
                before = raw_samples(server, time.time())
                self.assertEqual(server.stop(signal.SIGKILL), -signal.SIGKILL)
            self.assertTrue(any('count' in value for points in before.values() for value in points.values()),
                            'no native histogram was stored')
            server = self.start(folder, port, more)
            self.assertEqual(missing_samples(before, raw_samples(server, time.time())), [])
            self.assertEqual(server.stop(signal.SIGTERM), 0)

    def test_a_clean_stop_leaves_no_lock_and_loses_nothing(self):
        with Folder() as folder:
            port = free_port()
            server = self.start(folder, port, '')
            wait_for(lambda: server.scalar('up') == 1, what='a scrape')
            self.assertTrue((folder.path / 'data/lock').exists())
            status, _, _ = server.request('POST', '/-/quit')
            self.assertEqual(status, 200)
            self.assertEqual(server.child.wait(30), 0)
            self.assertFalse((folder.path / 'data/lock').exists())
            server = self.start(folder, port, '')
            self.assertTrue(server.query('up[1m]'))

    @unittest.skipUnless(find_peer('prometheus'), 'no Prometheus here')
    def test_the_real_prometheus_opens_the_directory(self):
        with Folder() as folder:
            port = free_port()
            server = self.start(folder, port, '')
            wait_for(lambda: server.query('rate(prometheus_http_request_duration_seconds[1m])'), what='histograms')
            end = time.time()
            # A scrape that began before may still be under way; one that began later comes after it.
            wait_for(lambda: server.scalar('timestamp(up)') > end, what='a later scrape')
            ours = raw_samples(server, end)
            count = server.scalar('count({__name__!=""})', time=end)
            self.assertEqual(server.stop(signal.SIGKILL), -signal.SIGKILL)
            peer = folder.start(Prometheus, 'global: {scrape_interval: 1h}\n', folder.path / 'data')
            self.assertEqual(peer.scalar('count({__name__!=""})', time=end), count)
            theirs = raw_samples(peer, end)
            self.assertEqual(missing_samples(ours, theirs), [])
            self.assertEqual(missing_samples(theirs, ours), [])
            peer.stop()
            # And back again.
            server = self.start(folder, port, '')
            self.assertEqual(missing_samples(ours, raw_samples(server, end)), [])


if __name__ == '__main__':
    unittest.main()
