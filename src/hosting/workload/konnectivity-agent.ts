import type { KubeObject } from '../../machinery/index.ts';
import { konnectivityEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import { mergeFlags } from '../objects/flags.ts';
import { konnectivityAdminPort, konnectivityAudience, konnectivityHealthPort } from '../objects/konnectivity.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneSpec } from '../spec.ts';
import { binding, serviceAccount } from './rbac.ts';
import { addonTolerations } from './tolerations.ts';

const name = 'konnectivity-agent';
const system = 'kube-system';
const labels = { 'k8s-app': name };
const tokens = '/var/run/secrets/tokens';
const tokenFile = 'konnectivity-agent-token';

/** konnectivity agents, which connect the API server to nodes and Pods; empty until the server's address is known. */
export function konnectivityAgentObjects(desired: PlaneSpec, facts: PlaneFacts): WorkloadObject[] {
  const { konnectivity } = desired;
  const server = konnectivityEndpoint(desired, facts);
  if (!konnectivity || !server) return [];
  const delegator = binding(
    'system:konnectivity-server',
    undefined,
    ['ClusterRole', 'system:auth-delegator'],
    [['User', 'system:konnectivity-server']],
  );
  return [
    { mode: 'keep', object: serviceAccount(name) },
    { mode: 'keep', object: delegator },
    { mode: 'keep', object: agents(desired, facts, server) },
  ];
}

function agents(desired: PlaneSpec, facts: PlaneFacts, server: { host: string; port: number }): KubeObject {
  const { konnectivity } = desired;
  const isDeployment = konnectivity?.agentReplicas !== undefined;
  // no more agents than nodes
  const replicas = Math.min(konnectivity?.agentReplicas ?? 1, Math.max(1, facts.workload?.nodes ?? 1));
  return {
    apiVersion: 'apps/v1',
    kind: isDeployment ? 'Deployment' : 'DaemonSet',
    metadata: { name, namespace: system, labels: { ...labels, 'addonmanager.kubernetes.io/mode': 'Reconcile' } },
    spec: {
      ...(isDeployment && { replicas }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(desired, server) },
    },
  } as KubeObject;
}

function podSpec(desired: PlaneSpec, server: { host: string; port: number }): object {
  const { konnectivity, images, layout } = desired;
  const { args } = mergeFlags(
    {
      'admin-server-port': String(konnectivityAdminPort),
      'ca-cert': '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
      'health-server-port': String(konnectivityHealthPort),
      'proxy-server-host': server.host,
      'proxy-server-port': String(server.port),
      'service-account-token-path': `${tokens}/${tokenFile}`,
      ...(layout === 'hardened' && { 'agent-id': '$(NODE_NAME)', 'count-server-leases': 'true' }),
    },
    { logtostderr: 'true', v: layout === 'together' ? '8' : '2' },
    konnectivity?.agentArgs,
  );
  return {
    priorityClassName: 'system-cluster-critical',
    serviceAccountName: name,
    ...(konnectivity?.agentHostNetwork && { hostNetwork: true }),
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [...(konnectivity?.agentTolerations ?? []), ...addonTolerations],
    containers: [
      {
        name,
        image: images.konnectivityAgent ?? '',
        command: ['/proxy-agent'],
        args: [...args],
        env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        // Pods without requests are evicted first under memory pressure, and logs depend on this one
        resources: { requests: { cpu: '10m', memory: '32Mi' } },
        livenessProbe: {
          httpGet: { path: '/healthz', port: konnectivityHealthPort, scheme: 'HTTP' },
          initialDelaySeconds: 15,
          timeoutSeconds: 15,
        },
        volumeMounts: [{ name: tokenFile, mountPath: tokens }],
      },
    ],
    volumes: [
      {
        name: tokenFile,
        projected: {
          sources: [
            { serviceAccountToken: { path: tokenFile, audience: konnectivityAudience, expirationSeconds: 3600 } },
          ],
        },
      },
    ],
  };
}
