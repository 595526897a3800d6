import type { KubeObject } from '../../machinery/index.ts';
import { dnsAddresses } from '../network.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneSpec } from '../spec.ts';
import { binding, role, serviceAccount, workloadConfigMap } from './rbac.ts';
import { addonTolerations } from './tolerations.ts';

const labels = { 'k8s-app': 'kube-dns' };
const system = 'kube-system';
const name = 'coredns';

/** DNS of the workload cluster. After creation, its configuration and replicas belong to the users. */
export function coreDnsObjects(desired: PlaneSpec): WorkloadObject[] {
  const { coreDns } = desired.addons;
  if (!coreDns) return [];
  const access = 'system:coredns';
  return [
    { mode: 'keep', object: serviceAccount(name) },
    {
      mode: 'keep',
      object: role(access, undefined, [
        { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ]),
    },
    { mode: 'keep', object: binding(access, undefined, ['ClusterRole', access], [['ServiceAccount', name, system]]) },
    { mode: 'once', object: workloadConfigMap(system, name, { Corefile: corefile(desired.network.domain) }) },
    {
      mode: 'once',
      object: deployment(desired, coreDns.replicas),
      follow: [['spec', 'template', 'spec', 'containers', name, 'image']],
    },
    { mode: 'once', object: service(desired) },
  ];
}

/** Resolves cluster names, and forwards all others to the machine's resolver. */
function corefile(domain: string): string {
  const lines = [
    '.:53 {',
    '    errors',
    '    health {',
    '       lameduck 5s',
    '    }',
    '    ready',
    `    kubernetes ${domain} in-addr.arpa ip6.arpa {`,
    '       pods insecure',
    '       fallthrough in-addr.arpa ip6.arpa',
    '       ttl 30',
    '    }',
    '    prometheus :9153',
    '    forward . /etc/resolv.conf {',
    '       max_concurrent 1000',
    '    }',
    '    cache 30',
    '    loop',
    '    reload',
    '    loadbalance',
    '}',
    '',
  ];
  return lines.join('\n');
}

function deployment(desired: PlaneSpec, replicas: number): KubeObject {
  const health = (path: string, port: number) => ({ httpGet: { path, port, scheme: 'HTTP' } });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: system, labels },
    spec: {
      replicas,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-cluster-critical',
          serviceAccountName: name,
          dnsPolicy: 'Default',
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [...addonTolerations],
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } },
                },
              ],
            },
          },
          containers: [
            {
              name,
              image: desired.images.coreDns ?? '',
              imagePullPolicy: 'IfNotPresent',
              args: ['-conf', '/etc/coredns/Corefile'],
              ports: [
                { name: 'dns', containerPort: 53, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
                { name: 'metrics', containerPort: 9153, protocol: 'TCP' },
              ],
              livenessProbe: {
                ...health('/health', 8080),
                initialDelaySeconds: 60,
                timeoutSeconds: 5,
                failureThreshold: 5,
              },
              readinessProbe: health('/ready', 8181),
              resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
                readOnlyRootFilesystem: true,
              },
              volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
            },
          ],
          volumes: [{ name: 'config-volume', configMap: { name, items: [{ key: 'Corefile', path: 'Corefile' }] } }],
        },
      },
    },
  } as KubeObject;
}

function service({ network }: PlaneSpec): KubeObject {
  const addresses = dnsAddresses(network);
  const port = (portName: string, number: number, protocol: string) => ({
    name: portName,
    port: number,
    targetPort: number,
    protocol,
  });
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kube-dns',
      namespace: system,
      labels: { ...labels, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
      annotations: { 'prometheus.io/port': '9153', 'prometheus.io/scrape': 'true' },
    },
    spec: {
      clusterIP: addresses[0],
      ...(addresses.length > 1 && { clusterIPs: addresses, ipFamilyPolicy: 'RequireDualStack' }),
      selector: labels,
      ports: [port('dns', 53, 'UDP'), port('dns-tcp', 53, 'TCP'), port('metrics', 9153, 'TCP')],
    },
  } as KubeObject;
}
