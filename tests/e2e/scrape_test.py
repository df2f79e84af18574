"""Scrapes itself and real exporters, and answers queries over what they expose."""
import math
import unittest

from processes import Alertmanager, Folder, Narthex, NodeExporter, Prometheus, find_peer, free_port, wait_for

SELF = '''
global: {{scrape_interval: 1s, scrape_native_histograms: true}}
scrape_configs:
- job_name: narthex
  static_configs: [{{targets: ['127.0.0.1:{port}']}}]
{more}'''

JOB = '''
- job_name: {name}
  static_configs: [{{targets: ['127.0.0.1:{port}']}}]
'''


class SelfScrapeTest(unittest.TestCase):
    def test_own_native_histograms_give_a_quantile(self):
        with Folder() as folder:
            port = free_port()
            server = folder.start(Narthex, SELF.format(port=port, more=''), port=port)
            text = 'histogram_quantile(0.9,sum(rate(prometheus_http_request_duration_seconds[1m])))'

            def quantile():
                value = server.scalar(text)
                return value if value is not None and not math.isnan(value) else None

            self.assertGreater(wait_for(quantile, what='quantile'), 0)
            target = server.api('targets')['activeTargets'][0]
            self.assertEqual((target['health'], target['lastError']), ('up', ''))
            histogram = server.query('prometheus_http_request_duration_seconds{handler="/metrics"}')[0]['histogram'][1]
            self.assertGreater(float(histogram['count']), 0)
            self.assertTrue(histogram['buckets'])
            metadata = server.api('metadata', metric='prometheus_http_request_duration_seconds')
            self.assertEqual(metadata['prometheus_http_request_duration_seconds'][0]['type'], 'histogram')

    def test_text_formats_are_scraped_when_asked_for(self):
        with Folder() as folder:
            port = free_port()
            more = ''.join(JOB.format(name=name, port=port) + f'  scrape_protocols: [{name}]\n'
                           for name in ('OpenMetricsText1.0.0', 'PrometheusText0.0.4'))
            server = folder.start(Narthex, SELF.format(port=port, more=more), port=port)
            wait_for(lambda: server.scalar('sum(up)') == 3, what='three targets up')
            wait_for(lambda: len(server.query('prometheus_build_info')) == 3, what='three build infos')
            wait_for(lambda: server.query('prometheus_http_request_duration_seconds_bucket{job="PrometheusText0.0.4"}'),
                     what='classic buckets')


class RealExportersTest(unittest.TestCase):
    @unittest.skipUnless(find_peer('prometheus-node-exporter'), 'no node exporter here')
    def test_a_node_exporter_shows_this_machine(self):
        with Folder() as folder:
            node = folder.start(NodeExporter)
            port = free_port()
            server = folder.start(Narthex, SELF.format(port=port, more=JOB.format(name='node', port=node.port)),
                                  port=port)
            wait_for(lambda: server.scalar('up{job="node"}') == 1, what='node exporter up')
            memory = wait_for(lambda: server.scalar('node_memory_MemTotal_bytes'), what='memory')
            with open('/proc/meminfo') as lines:
                self.assertEqual(memory, int(lines.readline().split()[1]) * 1024)
            self.assertGreater(server.scalar('count({job="node"})'), 200)

    @unittest.skipUnless(find_peer('prometheus') and find_peer('prometheus-alertmanager'), 'no peers here')
    def test_the_real_servers_native_histograms_arrive(self):
        with Folder() as folder:
            peer = folder.start(Prometheus, 'global: {scrape_interval: 1s}\n', folder.path / 'peer-data')
            manager = folder.start(Alertmanager)
            port = free_port()
            more = JOB.format(name='prometheus', port=peer.port) + JOB.format(name='alertmanager', port=manager.port)
            server = folder.start(Narthex, SELF.format(port=port, more=more), port=port)
            wait_for(lambda: server.scalar('sum(up)') == 3, what='three targets up')
            wait_for(lambda: server.query('prometheus_http_request_duration_seconds{job="prometheus"}'),
                     what="Prometheus's histograms")
            found = wait_for(lambda: server.query('alertmanager_http_request_duration_seconds{job="alertmanager"}')
                             or server.query('count({job="alertmanager"})'), what='Alertmanager metrics')
            self.assertTrue(found)
            wait_for(lambda: server.scalar(
                'sum(histogram_count(prometheus_http_request_duration_seconds{job="prometheus"}))'), what='requests')


if __name__ == '__main__':
    unittest.main()
