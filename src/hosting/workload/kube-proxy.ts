import { formatYaml, type KubeObject } from '../../machinery/index.ts';
import { planeEndpoint, serverUrl } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneSpec } from '../spec.ts';
import { binding, role, serviceAccount, workloadConfigMap } from './rbac.ts';

const name = 'kube-proxy';
const system = 'kube-system';
const labels = { 'k8s-app': name };
const account = '/var/run/secrets/kubernetes.io/serviceaccount';

/** kube-proxy on every node; empty until the API endpoint is known. */
export function kubeProxyObjects(desired: PlaneSpec, facts: PlaneFacts): WorkloadObject[] {
  const answer = planeEndpoint(desired, facts);
  if (!desired.addons.kubeProxy || !answer.known) return [];
  return [
    { mode: 'keep', object: serviceAccount(name) },
    {
      mode: 'keep',
      object: binding(
        'kubeadm:node-proxier',
        undefined,
        ['ClusterRole', 'system:node-proxier'],
        [['ServiceAccount', name, system]],
      ),
    },
    {
      mode: 'keep',
      object: role(name, system, [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] },
      ]),
    },
    {
      mode: 'keep',
      object: binding(name, system, ['Role', name], [['Group', 'system:bootstrappers:kubeadm:default-node-token']]),
    },
    {
      mode: 'once',
      object: config(desired, serverUrl(answer.endpoint)),
      // users may tune kube-proxy, but the API address follows the spec
      follow: [['data', 'kubeconfig.conf']],
    },
    { mode: 'keep', object: daemonSet(desired) },
  ];
}

function config({ network }: PlaneSpec, server: string): KubeObject {
  return workloadConfigMap(system, name, {
    'config.conf': formatYaml({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
      clusterCIDR: network.podCidrs.join(','),
      mode: '',
    }),
    'kubeconfig.conf': formatYaml({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'default', cluster: { 'certificate-authority': `${account}/ca.crt`, server } }],
      contexts: [{ name: 'default', context: { cluster: 'default', namespace: 'default', user: 'default' } }],
      'current-context': 'default',
      users: [{ name: 'default', user: { tokenFile: `${account}/token` } }],
    }),
  });
}

function daemonSet({ images, addons }: PlaneSpec): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: system, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate' },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-node-critical',
          serviceAccountName: name,
          hostNetwork: true,
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          tolerations: [{ operator: 'Exists' }],
          containers: [
            {
              name,
              image: images.kubeProxy ?? '',
              imagePullPolicy: 'IfNotPresent',
              command: [
                '/usr/local/bin/kube-proxy',
                '--config=/var/lib/kube-proxy/config.conf',
                '--hostname-override=$(NODE_NAME)',
                ...(addons.kubeProxy?.args ?? []),
              ],
              env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
              securityContext: { privileged: true },
              volumeMounts: [
                { name, mountPath: '/var/lib/kube-proxy' },
                { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
                { name: 'lib-modules', mountPath: '/lib/modules', readOnly: true },
              ],
            },
          ],
          volumes: [
            { name, configMap: { name } },
            { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
            { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
          ],
        },
      },
    },
  } as KubeObject;
}
