import type { ConfigMap, Container, Volume } from '../../api/index.ts';
import { formatYaml, type JsonValue } from '../../machinery/index.ts';
import type { PlaneSpec } from '../spec.ts';
import { k0sPki } from './k0s-config.ts';
import { configMap } from './metadata.ts';

// A small Prometheus next to the controllers, behind a proxy that serves all its metrics at one path.

const agentPort = 9090;
const proxyPort = 8090;

export function monitoringConfigs(desired: PlaneSpec): ConfigMap[] {
  if (!desired.k0s?.monitoring) return [];
  const { configs, etcdService } = desired.naming;
  const tls = {
    ca_file: `${k0sPki}/ca.crt`,
    cert_file: `${k0sPki}/admin.crt`,
    key_file: `${k0sPki}/admin.key`,
    insecure_skip_verify: true,
  };
  const job = (name: string, target: string): JsonValue => ({
    job_name: name,
    scheme: 'https',
    tls_config: tls,
    static_configs: [{ targets: [target] }],
  });
  return [
    configMap(desired, configs.prometheus, 'monitoring', {
      'prometheus.yml': formatYaml({
        global: { scrape_interval: '15s' },
        scrape_configs: [
          job('kube-apiserver', `localhost:${desired.exposure.apiPort}`),
          job('kube-scheduler', 'localhost:10259'),
          job('kube-controller-manager', 'localhost:10257'),
          ...(desired.dataStore.kind === 'own-etcd'
            ? [{ job_name: 'etcd', static_configs: [{ targets: [`${etcdService}:2381`] }] }]
            : []),
        ],
      }),
    }),
    configMap(desired, configs['prometheus-proxy'], 'monitoring', {
      'nginx.conf': [
        'events {}',
        'http {',
        `  server {`,
        `    listen ${proxyPort};`,
        '    location /metrics {',
        `      proxy_pass http://localhost:${agentPort}/federate?match[]=%7B__name__%3D~%22.%2B%22%7D;`,
        '    }',
        '  }',
        '}',
        '',
      ].join('\n'),
    }),
  ];
}

export function monitoringParts({ naming, k0s }: PlaneSpec): { containers: Container[]; volumes: Volume[] } {
  if (!k0s?.monitoring) return { containers: [], volumes: [] };
  const { configs, controlPlane } = naming;
  return {
    containers: [
      {
        name: 'monitoring-agent',
        image: k0s.monitoring.prometheusImage,
        imagePullPolicy: 'IfNotPresent',
        args: ['--config.file=/etc/prometheus/prometheus.yml', '--storage.tsdb.retention.size=200MB'],
        ports: [{ name: 'prometheus', containerPort: agentPort, protocol: 'TCP' }],
        volumeMounts: [
          { name: configs.prometheus, mountPath: '/etc/prometheus/prometheus.yml', subPath: 'prometheus.yml' },
          { name: controlPlane, mountPath: '/var/lib/k0s', readOnly: true },
        ],
      },
      {
        name: 'monitoring-proxy',
        image: k0s.monitoring.proxyImage,
        imagePullPolicy: 'IfNotPresent',
        ports: [{ name: 'proxy', containerPort: proxyPort, protocol: 'TCP' }],
        volumeMounts: [
          { name: configs['prometheus-proxy'], mountPath: '/etc/nginx/nginx.conf', subPath: 'nginx.conf' },
        ],
      },
    ],
    volumes: [configs.prometheus, configs['prometheus-proxy']].map((name) => ({ name, configMap: { name } })),
  };
}
