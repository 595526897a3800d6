import type { ConfigMap, Container, Volume } from '../../api/index.ts';
import { formatYaml } from '../../machinery/index.ts';
import type { PlaneSpec } from '../spec.ts';
import {
  egressFile,
  konnectivityDirectory,
  kubeconfigVolume,
  pki,
  pkiDirectory,
  socketDirectory,
} from './component-files.ts';
import { mergeFlags } from './flags.ts';
import { configMap } from './metadata.ts';
import { containerSettings } from './pods.ts';

// The konnectivity server: a sidecar through which the API server reaches nodes and Pods.

export const konnectivityAdminPort = 8133;
export const konnectivityHealthPort = 8134;
export const konnectivityAudience = 'system:konnectivity-server';

const socketOf = ({ layout }: PlaneSpec): string =>
  `${socketDirectory}/${layout === 'together' ? 'konnectivity-server.socket' : 'konnectivity-agent.sock'}`;

/** EgressSelectorConfiguration that routes workload cluster traffic through konnectivity. */
export function egressSelector(desired: PlaneSpec): ConfigMap[] {
  if (!desired.konnectivity) return [];
  return [
    configMap(desired, desired.naming.configs['egress-selector'], 'konnectivity', {
      [egressFile]: formatYaml({
        apiVersion: 'apiserver.k8s.io/v1beta1',
        kind: 'EgressSelectorConfiguration',
        egressSelections: [
          {
            name: 'cluster',
            connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName: socketOf(desired) } } },
          },
        ],
      }),
    }),
  ];
}

export interface SidecarParts {
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
  /** mounts shared with the API server */
  readonly mounts: NonNullable<Container['volumeMounts']>;
  readonly secrets: readonly string[];
}

export const noParts: SidecarParts = { containers: [], volumes: [], mounts: [], secrets: [] };

export function konnectivityServer(desired: PlaneSpec): SidecarParts {
  const { konnectivity, naming, images, components, replicas, exposure } = desired;
  if (!konnectivity) return noParts;
  const kubeconfig = kubeconfigVolume(desired, 'konnectivity-kubeconfig');
  const agentPort = exposure.konnectivityPort ?? 8132;
  const { args } = mergeFlags(
    {
      'admin-port': String(konnectivityAdminPort),
      'agent-namespace': 'kube-system',
      'agent-port': String(agentPort),
      'agent-service-account': 'konnectivity-agent',
      'authentication-audience': konnectivityAudience,
      'cluster-cert': pki('apiserver.crt'),
      'cluster-key': pki('apiserver.key'),
      'delete-existing-uds-file': 'true',
      'health-port': String(konnectivityHealthPort),
      kubeconfig: kubeconfig.path,
      mode: 'grpc',
      'server-port': '0',
      'uds-name': socketOf(desired),
      ...(desired.layout === 'hardened'
        ? { 'enable-lease-controller': 'true' }
        : { 'server-count': String(Math.max(1, replicas)) }),
    },
    { logtostderr: 'true' },
    components.konnectivityServer?.args,
  );
  const health = { httpGet: { path: '/healthz', port: konnectivityHealthPort, scheme: 'HTTP' } };
  const socket = { name: 'konnectivity-uds', mountPath: socketDirectory };
  return {
    containers: [
      {
        name: 'konnectivity-server',
        image: images.konnectivityServer ?? '',
        imagePullPolicy: 'IfNotPresent',
        command: ['/proxy-server'],
        args: [...args],
        ports: [
          { name: 'agentport', containerPort: agentPort, protocol: 'TCP' },
          { name: 'adminport', containerPort: konnectivityAdminPort, protocol: 'TCP' },
          { name: 'healthport', containerPort: konnectivityHealthPort, protocol: 'TCP' },
        ],
        livenessProbe: {
          ...health,
          initialDelaySeconds: 30,
          timeoutSeconds: 60,
          periodSeconds: 10,
          failureThreshold: 3,
        },
        ...(desired.layout === 'hardened' && {
          readinessProbe: { ...health, periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 3 },
        }),
        volumeMounts: [
          { name: 'etc-kubernetes-pki', mountPath: pkiDirectory, readOnly: true },
          kubeconfig.mount,
          socket,
        ],
        ...containerSettings(components.konnectivityServer),
      },
    ],
    volumes: [
      kubeconfig.volume,
      { name: 'konnectivity-uds', emptyDir: { medium: 'Memory' } },
      { name: 'egress-selector-configuration', configMap: { name: naming.configs['egress-selector'] } },
    ],
    mounts: [
      socket,
      { name: 'egress-selector-configuration', mountPath: `${konnectivityDirectory}/configurations`, readOnly: true },
    ],
    secrets: [kubeconfig.secret],
  };
}
