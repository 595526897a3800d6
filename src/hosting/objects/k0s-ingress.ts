import type { ConfigMap } from '../../api/index.ts';
import { formatYaml, type JsonObject, must } from '../../machinery/index.ts';
import { kubernetesAddresses } from '../network.ts';
import type { PlaneSpec } from '../spec.ts';
import { configMap } from './metadata.ts';

// Behind an Ingress the API is reached by host name, but clients in the workload cluster use the IP address of the
// Service `kubernetes`. A proxy on every node forwards their connections with the host name.

const proxyName = 'k0smotron-haproxy';
const proxyPort = 7443;
const certificates = '/etc/haproxy/certs';

/** Manifests for the workload cluster of a plane behind an Ingress. */
export function k0sIngressConfigs(desired: PlaneSpec): ConfigMap[] {
  const { ingress } = desired.exposure;
  if (!ingress) return [];
  const documents = [endpoints(), proxyConfig(ingress.host, ingress.port), proxyDaemonSet(), service(desired)];
  return [
    configMap(desired, desired.naming.configs.ingress, 'ingress', {
      'ingress.yaml': documents.map(formatYaml).join('---\n'),
    }),
  ];
}

/** k0s worker profiles require some API address. */
function endpoints(): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'kubernetes', namespace: 'default' },
    subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ name: 'https', port: proxyPort, protocol: 'TCP' }] }],
  };
}

function proxyConfig(host: string, port: number): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: proxyName, namespace: 'default' },
    data: {
      'haproxy.cfg': [
        'defaults',
        '  mode tcp',
        '  timeout connect 10s',
        '  timeout client 1h',
        '  timeout server 1h',
        'frontend api',
        `  bind :${proxyPort} ssl crt ${certificates}/server.pem`,
        '  default_backend api',
        'backend api',
        `  server api ${host}:${port} ssl verify required ca-file ${certificates}/ca.crt sni str(${host})`,
        '',
      ].join('\n'),
    },
  };
}

function proxyDaemonSet(): JsonObject {
  const labels = { app: proxyName };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: proxyName, namespace: 'default', labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          hostNetwork: true,
          tolerations: [{ operator: 'Exists' }],
          containers: [
            {
              name: 'haproxy',
              image: 'haproxy:2.8',
              args: ['-f', '/usr/local/etc/haproxy/haproxy.cfg'],
              ports: [{ name: 'https', containerPort: proxyPort, protocol: 'TCP' }],
              volumeMounts: [
                { name: 'config', mountPath: '/usr/local/etc/haproxy', readOnly: true },
                { name: 'certificates', mountPath: certificates, readOnly: true },
              ],
            },
          ],
          volumes: [
            { name: 'config', configMap: { name: proxyName } },
            { name: 'certificates', hostPath: { path: certificates, type: 'Directory' } },
          ],
        },
      },
    },
  };
}

function service({ network }: PlaneSpec): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: {
      ...(network.serviceCidrs.length > 0 && {
        clusterIP: must(kubernetesAddresses(network)[0], 'the address of the kubernetes Service'),
      }),
      internalTrafficPolicy: 'Local',
      selector: { app: proxyName },
      ports: [{ name: 'https', port: 443, targetPort: proxyPort, protocol: 'TCP' }],
    },
  };
}
