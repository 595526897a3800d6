import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ClusterResourceSetBindings,
  Clusters,
  DaemonSets,
  HostedControlPlanes,
  K0smotronControlPlanes,
  Namespaces,
  Nodes,
  PersistentVolumeClaims,
  Pods,
  Secrets,
  Services,
  StorageClasses,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { type KubeObject, type Resource, systemClock } from '../../../machinery/index.ts';
import { readCluster } from '../../describe/cluster-objects.ts';
import { type MemoryApi, startMemoryApi } from '../../testing/memory-api.ts';
import type { Finding } from '../findings.ts';
import { managementSideChecks } from './management-side.ts';
import { runChecks } from './run-checks.ts';
import { workloadSideChecks } from './workload-side.ts';

const by = { fieldManager: 'test' };
const { signal } = new AbortController();

type Made = readonly [resource: Resource<KubeObject>, object: object];

/** The advice of a guide and the corresponding finding of the doctor. */
interface Advised {
  /** quotation from the guide */
  readonly advice: string;
  readonly management?: readonly Made[];
  readonly workload?: readonly Made[];
  readonly check: string;
  readonly detail: RegExp;
  readonly cure: RegExp;
}

const ofCluster = { 'cluster.x-k8s.io/cluster-name': 'red' };
const container = { name: 'etcd', image: 'docker.io/k0sproject/etcd:v1:v1' };
const pod = (status: object, image = container.image): Made => [
  Pods,
  {
    metadata: { name: 'kmc-red-etcd-0', namespace: 'default', labels: ofCluster },
    spec: {
      containers: [{ ...container, image }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'etcd-data-red-0' } }],
    },
    status,
  },
];
const waiting = (reason: string, message: string): object => ({
  phase: 'Pending',
  containerStatuses: [
    {
      name: 'etcd',
      image: container.image,
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason, message } },
    },
  ],
});
const unscheduled = (message: string): object => ({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
});
const claim = (namespace: string, more: object = {}): Made => [
  PersistentVolumeClaims,
  {
    metadata: { name: 'etcd-data-red-0', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
    status: { phase: 'Pending' },
  },
];
const node = (name: string, options: { message?: string; version?: string; taints?: object[] } = {}): Made => [
  Nodes,
  {
    metadata: { name },
    spec: { taints: options.taints ?? [] },
    status: {
      conditions: [
        {
          type: 'Ready',
          status: options.message === undefined ? 'True' : 'False',
          reason: 'x',
          message: options.message ?? '',
        },
      ],
      nodeInfo: { kubeletVersion: options.version ?? 'v1.33.6' },
    },
  },
];
const daemonSet = (name: string, volumes: object[]): Made => [
  DaemonSets,
  {
    metadata: { name, namespace: 'kube-system' },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'a', image: 'a' }], volumes },
      },
    },
  },
];
const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

const advices: readonly Advised[] = [
  {
    advice: '000, PVC Pending: confirm default StorageClass is configured',
    management: [pod(unscheduled('pod has unbound immediate PersistentVolumeClaims')), claim('default')],
    check: 'control plane',
    detail: /PersistentVolumeClaim etcd-data-red-0 is Pending: there is no default StorageClass/,
    cure: /a default StorageClass/,
  },
  {
    advice: '000, PVC Pending: ensure Cinder CSI is running, with its kubelet directory and credentials',
    management: [pod(unscheduled('unbound PersistentVolumeClaims')), claim('default', { storageClassName: 'cinder' })],
    check: 'control plane',
    detail: /no volume was created for StorageClass cinder/,
    cure: /running CSI driver, with mounted credentials and the right kubelet directory/,
  },
  {
    advice: '000, node plugin mount errors: kubelet directory mismatch',
    workload: [
      node('n', { version: 'v1.32.6+k0s' }),
      daemonSet('openstack-cinder-csi-nodeplugin', [{ name: 'kubelet', hostPath: { path: '/var/lib/kubelet' } }]),
    ],
    check: 'storage',
    detail: /mounts volumes below \/var\/lib\/kubelet, kubelets here look below \/var\/lib\/k0s\/kubelet/,
    cure: /kubeletDir/,
  },
  {
    advice: '000, invalid image name: avoid double-tagging',
    management: [pod(waiting('InvalidImageName', "couldn't parse image name"))],
    check: 'control plane',
    detail: /InvalidImageName: couldn't parse/,
    cure: /use one tag, such as ghcr\.io\/k0sproject\/k0s:v1\.32\.6-k0s\.0, and leave version out/,
  },
  {
    advice: '000, image pull errors (429): another registry, imagePullSecrets',
    management: [pod(waiting('ErrImagePull', '429 Too Many Requests - toomanyrequests: pull rate limit'))],
    check: 'control plane',
    detail: /429 Too Many Requests/,
    cure: /ghcr\.io, or set imagePullSecrets/,
  },
  {
    advice: '000, LoadBalancer pending: a functional LoadBalancer implementation',
    management: [
      pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
      [
        Services,
        {
          metadata: {
            name: 'red-lb',
            namespace: 'default',
            labels: ofCluster,
          },
          spec: { type: 'LoadBalancer', ports: [{ port: 6443 }] },
        },
      ],
    ],
    check: 'control plane',
    detail: /Service red-lb waits for an address/,
    cure: /cloud controller manager with Octavia, or MetalLB/,
  },
  {
    advice: '001, control plane Pods not starting: check the provider is running',
    management: [
      [HostedControlPlanes, { metadata: { name: 'red', namespace: 'default' }, spec: { version: 'v1.33.6' } }],
    ],
    check: 'control plane',
    detail: /HostedControlPlane red has no Pods, without a reported reason/,
    cure: /its controller does not run/,
  },
  {
    advice: '001, control plane Pods not starting: sufficient resources',
    management: [pod(unscheduled('0/3 nodes are available: 3 Insufficient cpu.'))],
    check: 'control plane',
    detail: /3 Insufficient cpu/,
    cure: /the management cluster has no room: add nodes/,
  },
  {
    advice: '001, worker Nodes not joining: the Secret clouds-yaml in the workload cluster',
    workload: [
      node('n', { taints: [uninitialized] }),
      daemonSet('openstack-cloud-controller-manager', [{ name: 'c', secret: { secretName: 'clouds-yaml' } }]),
    ],
    check: 'cloud credentials',
    detail: /Secret kube-system\/clouds-yaml is not there/,
    cure: /create secret generic clouds-yaml --from-file=clouds\.yaml/,
  },
  {
    advice: '001, worker Nodes not joining: the cloud controller',
    workload: [node('n', { taints: [uninitialized] })],
    check: 'cloud controller',
    detail: /there is none, and n cannot be used without it/,
    cure: /install the OpenStack cloud controller manager/,
  },
  {
    advice: '001, cluster add-on failures: check ClusterResourceSet applied',
    management: [
      [
        ClusterResourceSetBindings,
        {
          metadata: { name: 'red', namespace: 'default' },
          spec: {
            clusterName: 'red',
            bindings: [
              { clusterResourceSetName: 'cni', resources: [{ kind: 'ConfigMap', name: 'cilium', applied: false }] },
            ],
          },
        },
      ],
    ],
    check: 'add-ons',
    detail: /ClusterResourceSet cni: ConfigMap cilium is not applied/,
    cure: /kubectl describe clusterresourceset cni/,
  },
  {
    advice: '001, cluster add-on failures: add-on logs in the workload cluster',
    workload: [
      [
        Pods,
        {
          metadata: { name: 'metrics-server', namespace: 'kube-system' },
          spec: { containers: [container] },
          status: waiting('CrashLoopBackOff', 'back-off restarting failed container'),
        },
      ],
    ],
    check: 'system Pods',
    detail: /Pod metrics-server, container etcd: CrashLoopBackOff/,
    cure: /kubectl logs \S+ -n \S+ --previous/,
  },
  {
    advice: '003, Nodes NotReady without a network plugin',
    workload: [
      node('n', { message: 'container runtime network not ready: NetworkPluginNotReady cni plugin not initialized' }),
    ],
    check: 'network plugin',
    detail: /there is none, and 1 Nodes wait for it/,
    cure: /Cilium or flannel/,
  },
  {
    advice: '003, another version than the manifest',
    workload: [node('n', { version: 'v1.35.1' })],
    check: 'versions',
    detail: /a kubelet must not be newer/,
    cure: /upgrade the control plane/,
  },
  {
    advice: '000, clouds.yaml of the workload cluster: wrong credentials',
    workload: [
      [
        Secrets,
        {
          metadata: { name: 'cloud-config', namespace: 'kube-system' },
          data: { 'cloud.conf': Buffer.from('[Global\n').toString('base64') },
        },
      ],
    ],
    check: 'cloud credentials',
    detail: /Secret cloud-config, cloud\.conf: 1:1: expected section header/,
    cure: /write the Secret again/,
  },
  {
    advice: '000, verify storage: a default StorageClass in the workload cluster',
    workload: [
      [StorageClasses, { metadata: { name: 'cinder' }, provisioner: 'cinder.csi.openstack.org' }],
      claim('default'),
    ],
    check: 'storage',
    detail: /PersistentVolumeClaim default\/etcd-data-red-0 is Pending: there is no default StorageClass/,
    cure: /CSI driver must run/,
  },
];

describe('advice of the guides for failures', () => {
  let management: MemoryApi;
  let workload: MemoryApi;
  beforeEach(async () => {
    [management, workload] = await Promise.all([startMemoryApi(), startMemoryApi()]);
    await make(management.connection.client, [
      [
        Clusters,
        {
          metadata: { name: 'red', namespace: 'default' },
          spec: {
            controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'HostedControlPlane', name: 'red' },
          },
        },
      ],
    ]);
  });
  afterEach(async () => {
    await Promise.all([management.close(), workload.close()]);
  });

  it.each(advices)('$advice', async ({ management: here = [], workload: there = [], check, detail, cure }) => {
    await make(management.connection.client, here);
    await make(workload.connection.client, there);
    const findings = await examine();
    const bad = findings.filter(({ status, check: name }) => status === 'failed' && name === check);
    expect(bad.map(({ detail: said, cure: next }) => `${said}; ${next}`).join('\n')).toMatch(
      new RegExp(`${detail.source}.*; .*${cure.source}`),
    );
  });

  it('does not appear for a healthy cluster', async () => {
    await make(management.connection.client, [
      pod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
      [
        K0smotronControlPlanes,
        { metadata: { name: 'other', namespace: 'default' }, spec: { version: 'v1.33.6+k0s.0' } },
      ],
      // Belongs to another cluster whose name has the same prefix.
      [
        PersistentVolumeClaims,
        {
          metadata: { name: 'etcd-data-red-0-red-0', namespace: 'default' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
      [
        Services,
        {
          metadata: { name: 'red-0-lb', namespace: 'default', labels: { 'cluster.x-k8s.io/cluster-name': 'red-0' } },
          spec: { type: 'LoadBalancer', ports: [{ port: 6443 }] },
        },
      ],
    ]);
    await make(workload.connection.client, [node('n')]);
    const bad = (await examine()).filter(({ status, check }) => status === 'failed' && check !== 'cluster');
    expect(bad).toEqual([]);
  });

  async function examine(): Promise<Finding[]> {
    const { connection } = management;
    const found = await readCluster(connection, 'red', { resourceSets: true, signal });
    const { client, namespace } = connection;
    const subject = { name: 'red', namespace, client, found, machines: [], nowMs: systemClock.now() };
    const read = async (path: string): Promise<string> => (path === '/readyz' ? 'ok' : '{"gitVersion": "v1.34.0"}');
    const running = { ...subject, workload: workload.connection.client, read, authUrl: undefined };
    return [
      ...(await runChecks(managementSideChecks, subject, signal)),
      ...(await runChecks(workloadSideChecks, running, signal)),
    ];
  }
});

async function make(client: Client, objects: readonly Made[]): Promise<void> {
  for (const name of ['default', 'kube-system']) {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, by).catch(() => {});
  }
  for (const [resource, object] of objects) {
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    const whole = { apiVersion, kind: resource.kind, ...object } as KubeObject;
    const made = await client.create(resource, whole, by);
    const { status } = object as { status?: object };
    if (status === undefined) continue;
    const key = {
      name: made.metadata.name ?? '',
      ...(resource.namespaced && { namespace: made.metadata.namespace ?? '' }),
    };
    await client.patch(resource, key, 'merge', { status } as never, { ...by, subresource: 'status' });
  }
}
