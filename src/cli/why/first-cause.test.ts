import { describe, expect, it } from 'vitest';
import type { ClusterObjects } from '../describe/cluster-objects.ts';
import type { AnyObject } from '../describe/fields.ts';
import { causeOfCluster, causeOfMachine } from './first-cause.ts';

const group = 'infrastructure.cluster.x-k8s.io';
type Conditions = readonly (readonly [type: string, status: string, reason: string, message?: string])[];
const object = (kind: string, name: string, conditions: Conditions, more: object = {}): AnyObject =>
  ({
    apiVersion: kind.startsWith('OpenStack')
      ? `${group}/v1beta2`
      : kind.endsWith('ControlPlane')
        ? 'controlplane.cluster.x-k8s.io/v1beta2'
        : 'cluster.x-k8s.io/v1beta2',
    kind,
    metadata: { name, namespace: 'default' },
    status: { conditions: conditions.map(([type, status, reason, message]) => ({ type, status, reason, message })) },
    ...more,
  }) as AnyObject;
const cluster = (conditions: Conditions = [], more: object = {}): AnyObject =>
  object('Cluster', 'red', conditions, {
    spec: {
      infrastructureRef: { apiGroup: group, kind: 'OpenStackCluster', name: 'red' },
      controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'red-cp' },
    },
    ...more,
  });
const machine = (name: string, conditions: Conditions, labels: Record<string, string> = {}): AnyObject =>
  object('Machine', name, conditions, {
    metadata: { name, namespace: 'default', labels },
    spec: { infrastructureRef: { apiGroup: group, kind: 'OpenStackMachine', name } },
  });
const controlPlane = { 'cluster.x-k8s.io/control-plane': '' };
const waitsForAll: Conditions = [
  ['Available', 'False', 'NotAvailable', '* InfrastructureReady: Waiting for OpenStackCluster'],
  ['InfrastructureReady', 'False', 'NotReady', 'Waiting for OpenStackCluster to be provisioned'],
];
const cases: readonly (readonly [string, ClusterObjects, string, RegExp, RegExp])[] = [
  [
    'wrong password',
    {
      cluster: cluster(waitsForAll),
      objects: [
        object('OpenStackCluster', 'red', [
          ['Ready', 'False', 'OpenStackError', 'The request you have made requires authentication.'],
          [
            'OpenStackAuthenticationSucceeded',
            'False',
            'AuthenticationFailed',
            'The cloud does not accept the credentials (401)',
          ],
        ]),
      ],
    },
    'OpenStackCluster/red',
    /does not accept the credentials/,
    /Secret that identityRef names/,
  ],
  [
    'quota',
    {
      cluster: cluster(waitsForAll),
      objects: [
        object('OpenStackCluster', 'red', []),
        machine(
          'red-cp-1',
          [
            ['InfrastructureReady', 'False', 'NotReady', 'Waiting for the server'],
            ['NodeReady', 'Unknown', 'InspectionFailed', 'Waiting for Cluster control plane to be initialized'],
          ],
          controlPlane,
        ),
        object('OpenStackMachine', 'red-cp-1', [
          ['Ready', 'False', 'InstanceCreateFailed', 'x'],
          [
            'InstanceReady',
            'False',
            'InstanceCreateFailed',
            'Quota exceeded for cores: Requested 4, but already used 20 of 20 cores',
          ],
        ]),
      ],
    },
    'OpenStackMachine/red-cp-1',
    /Quota exceeded for cores/,
    /capstan doctor/,
  ],
  [
    'a server without a host',
    {
      cluster: cluster(waitsForAll),
      objects: [
        machine('red-1', [['NodeReady', 'Unknown', 'x', 'Waiting for a Node']]),
        object('OpenStackMachine', 'red-1', [
          [
            'InstanceReady',
            'False',
            'InstanceStateError',
            'No valid host was found. There are not enough hosts available.',
          ],
        ]),
      ],
    },
    'OpenStackMachine/red-1',
    /No valid host/,
    /another flavor or availability zone/,
  ],
  [
    'a console that tells',
    {
      cluster: cluster(waitsForAll),
      objects: [
        machine('red-1', [
          [
            'NodeReady',
            'Unknown',
            'InspectionFailed',
            'Waiting for a Node with spec.providerID x to exist: the image has no Kubernetes',
          ],
        ]),
        object('OpenStackMachine', 'red-1', [
          ['InstanceReady', 'True', 'Ready'],
          [
            'NodeStartup',
            'False',
            'ImageWithoutKubernetes',
            'the image has no Kubernetes on it: "kubeadm: command not found"; use an image with kubeadm',
          ],
        ]),
      ],
    },
    'OpenStackMachine/red-1',
    /no Kubernetes on it/,
    /./,
  ],
  [
    'no network plugin',
    {
      cluster: cluster(waitsForAll),
      objects: [
        machine('red-1', [
          [
            'NodeHealthy',
            'False',
            'NodeNotReady',
            '* Node.Ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
          ],
        ]),
      ],
    },
    'Machine/red-1',
    /cni plugin not initialized/,
    /install a network plugin/,
  ],
  [
    'a missing image name',
    {
      cluster: cluster(waitsForAll),
      objects: [
        machine('red-1', []),
        object('OpenStackMachine', 'red-1', [
          ['InstanceReady', 'False', 'InvalidMachineSpec', 'image "ubuntu-x" does not exist in the cloud'],
        ]),
      ],
    },
    'OpenStackMachine/red-1',
    /ubuntu-x/,
    /correct the name/,
  ],
  [
    'a control plane that says more than its cluster',
    {
      cluster: cluster([['ControlPlaneAvailable', 'False', 'x', 'KubeadmControlPlane: 1 of 3']]),
      objects: [
        object('KubeadmControlPlane', 'red-cp', [
          ['EtcdClusterHealthy', 'False', 'EtcdNotHealthy', 'member red-cp-2 has alarm NOSPACE'],
          ['Available', 'False', 'x', 'y'],
        ]),
      ],
    },
    'KubeadmControlPlane/red-cp',
    /NOSPACE/,
    /^kubectl describe kubeadmcontrolplane red-cp -n default$/,
  ],
  [
    'a topology that is refused',
    {
      cluster: cluster([
        ['TopologyReconciled', 'False', 'ReconcileFailed', 'variable workerFlavor: "" is too short'],
        ...waitsForAll,
      ]),
      objects: [],
    },
    'Cluster/red',
    /workerFlavor/,
    /./,
  ],
  [
    'a control plane in Pods whose name is refused, with a part that is not there yet',
    {
      cluster: cluster(waitsForAll),
      objects: [
        object('KubeadmControlPlane', 'red-cp', [
          ['CertificatesAvailable', 'False', 'NotFound', 'not there yet'],
          ['VersionAccepted', 'False', 'NameRefused', 'no Service can have that name: give the cluster a shorter name'],
        ]),
      ],
    },
    'KubeadmControlPlane/red-cp',
    /no Service can have that name/,
    /./,
  ],
  [
    'a pause',
    { cluster: cluster([], { spec: { paused: true } }), objects: [] },
    'Cluster/red',
    /spec\.paused/,
    /kubectl patch cluster red -n default /,
  ],
  [
    'something missing',
    { cluster: cluster(waitsForAll), objects: [], missing: [{ group, kind: 'OpenStackCluster', name: 'red' }] },
    'OpenStackCluster/red',
    /does not exist/,
    /create OpenStackCluster red/,
  ],
];

describe('the first cause', () => {
  it.each(cases)('is found for: %s', (_, found, culprit, message, next) => {
    const cause = causeOfCluster(found);
    expect(cause).toMatchObject({ object: culprit });
    expect(cause?.message).toMatch(message);
    expect(cause?.next).toMatch(next);
  });

  it('is the message of the object waited for, not of the waiting one', () => {
    const found: ClusterObjects = {
      cluster: cluster(waitsForAll),
      objects: [
        object('OpenStackCluster', 'red', [['NetworkReady', 'False', 'WaitingForNetwork', 'Waiting for network k8s']]),
      ],
    };
    expect(causeOfCluster(found)).toMatchObject({ object: 'OpenStackCluster/red', message: 'Waiting for network k8s' });
  });

  it('is what keeps a machine from running when the machine waits for the API address', () => {
    const conditions: Conditions = [
      [
        'APIServerIngressReady',
        'False',
        'FloatingIPError',
        'Floating IP 10.0.0.1 waits for a control-plane machine that runs',
      ],
      ['InstanceReady', 'False', 'DependencyFailed', 'no image is named no-such-image'],
    ];
    const found: ClusterObjects = {
      cluster: cluster(waitsForAll),
      objects: [machine('red-cp-1', [], controlPlane), object('OpenStackMachine', 'red-cp-1', conditions)],
    };
    expect(causeOfCluster(found)?.message).toContain('no-such-image');
  });

  it('is the starting control-plane machine while all conditions wait for each other', () => {
    const waits = 'Waiting for Cluster control plane to be initialized';
    const first = machine('red-cp-1', [['NodeHealthy', 'Unknown', 'InspectionFailed', waits]], controlPlane);
    const started = Object.assign(first, { status: { initialization: { infrastructureProvisioned: true } } });
    const found: ClusterObjects = {
      cluster: cluster([['ControlPlaneInitialized', 'False', 'NotInitialized', 'Control plane not yet initialized']]),
      objects: [
        started,
        machine('red-md-0', [
          [
            'Ready',
            'False',
            'NotReady',
            `* DataSecretAvailable: ${waits}\n* CertificatesAvailable: Condition not yet reported`,
          ],
        ]),
      ],
    };
    expect(causeOfCluster(found)).toMatchObject({ object: 'Machine/red-cp-1', reason: 'WaitingForNode' });
  });

  it.each([
    ['to exist', 'WaitingForNode', /has not become a Node yet/],
    [
      'to exist: Node n has none, and the cloud controller manager of the cluster has to set it; check that it is installed and runs',
      'InspectionFailed',
      /^Node n has none, and the cloud controller manager/,
    ],
  ])('is the worker whose Node is waited for, not the deployment that counts it: %s', (rest, reason, message) => {
    const waits = `Waiting for a Node with spec.providerID openstack:///1 ${rest}`;
    const conditions = [{ type: 'NodeHealthy', status: 'Unknown', reason: 'InspectionFailed', message: waits }];
    const found: ClusterObjects = {
      cluster: cluster([], { status: { initialization: { controlPlaneInitialized: true } } }),
      objects: [
        Object.assign(machine('red-md-0', []), {
          status: { conditions, initialization: { infrastructureProvisioned: true } },
        }),
        object('MachineDeployment', 'red-md', [
          ['Available', 'False', 'NotAvailable', '0 available replicas, at least 1 required'],
        ]),
      ],
    };
    const cause = causeOfCluster(found);
    expect(cause).toMatchObject({ object: 'Machine/red-md-0', reason });
    expect(cause?.message).toMatch(message);
  });

  it('of a deletion is what the infrastructure of a machine reports, not that the machine waits for it', () => {
    const deleting = { namespace: 'default', deletionTimestamp: '2026-01-01T00:00:00Z' };
    const lost = 'Secret default/openstack does not exist; create it with the key clouds.yaml';
    const found: ClusterObjects = {
      cluster: cluster([], { metadata: { name: 'red', ...deleting } }),
      objects: [
        machine('red-1', [
          ['Deleting', 'True', 'WaitingForInfrastructure', 'Waiting for OpenStackMachine to be deleted'],
        ]),
        object('OpenStackMachine', 'red-1', [['Ready', 'False', 'InstanceDeleted', lost]], {
          metadata: { name: 'red-1', ...deleting },
        }),
      ],
    };
    expect(causeOfCluster(found)).toMatchObject({ object: 'OpenStackMachine/red-1', message: lost });
    expect(causeOfCluster(found)?.next).toContain('put working credentials into the Secret');
  });

  it('suggests what the topology says, not what the words of the API resemble', () => {
    const message =
      'OpenStackCluster red is invalid: spec: Forbidden: cannot be modified. Nothing was changed: correct templates or patches of ClusterClass default/a';
    const found = { cluster: cluster([['TopologyReconciled', 'False', 'ReconcileFailed', message]]), objects: [] };
    expect(causeOfCluster(found)?.next).toBe('correct templates or patches of ClusterClass default/a');
  });

  it('is undefined for a healthy cluster', () => {
    expect(causeOfCluster({ cluster: cluster([['Available', 'True', 'Available']]), objects: [] })).toBeUndefined();
  });

  it('is found for a single machine', () => {
    const [, found] = cases[2] ?? [];
    expect(found && causeOfMachine(found, 'red-1')).toMatchObject({ object: 'OpenStackMachine/red-1' });
    expect(found && causeOfMachine(found, 'other')).toBeUndefined();
  });
});
