import { describe, expect, it } from 'vitest';
import { clusterTree } from './cluster-tree.ts';
import type { AnyObject } from './fields.ts';
import { renderTree } from './layout.ts';
import { bootstrap, core, infrastructure, legacyReady, made, modern, nowMs } from './testing/objects.ts';
import type { TreeNode, TreeOptions } from './tree.ts';

const plain: TreeOptions = {
  legacyConditions: true,
  grouping: true,
  echo: false,
  showMachineSets: false,
  showTemplates: false,
  showResourceSets: false,
  showConditions: [],
};

function print(cluster: AnyObject, objects: readonly AnyObject[], options: Partial<TreeOptions> = {}): string {
  const shown = { ...plain, ...options };
  const tree = clusterTree({ cluster, objects: [...objects] }, shown);
  const text = renderTree(tree, shown.legacyConditions ? 'readiness' : 'replicas', { nowMs, colour: false });
  return `\n${text}`;
}

function titles({ title, children }: TreeNode): unknown[] {
  return children.length === 0 ? [title] : [title, children.flatMap(titles)];
}

const capiQuickstart = made(core, 'Cluster', 'capi-quickstart', {
  spec: {
    infrastructureRef: {
      apiGroup: 'infrastructure.cluster.x-k8s.io',
      kind: 'OpenStackCluster',
      name: 'capi-quickstart',
    },
    controlPlaneRef: {
      apiGroup: 'controlplane.cluster.x-k8s.io',
      kind: 'KamajiControlPlane',
      name: 'kamaji-quickstart-control-plane',
    },
  },
  status: legacyReady('True', 12 * 60),
});

describe('the tree of a cluster', () => {
  it('equals the tree printed in the Kamaji guide', () => {
    const machine = 'capi-quickstart-md-0-f5xz7-w54x9';
    const objects = [
      made(infrastructure, 'OpenStackCluster', 'capi-quickstart'),
      made('controlplane.cluster.x-k8s.io/v1alpha1', 'KamajiControlPlane', 'kamaji-quickstart-control-plane'),
      made(core, 'MachineDeployment', 'capi-quickstart-md-0', { status: legacyReady('True', 163) }),
      made(core, 'MachineSet', 'capi-quickstart-md-0-f5xz7', { owner: 'MachineDeployment/capi-quickstart-md-0' }),
      made(core, 'Machine', machine, {
        owner: 'MachineSet/capi-quickstart-md-0-f5xz7',
        spec: {
          infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachine', name: machine },
          bootstrap: { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name: machine } },
        },
        status: legacyReady('True', 200),
      }),
      made(infrastructure, 'OpenStackMachine', machine, { status: legacyReady('True', 220) }),
      made(bootstrap, 'KubeadmConfig', machine, { status: legacyReady('True', 230) }),
    ];
    expect(print(capiQuickstart, objects)).toBe(`
NAME                                                                 READY  SEVERITY  REASON  SINCE  MESSAGE
Cluster/capi-quickstart                                              True                     12m
├─ClusterInfrastructure - OpenStackCluster/capi-quickstart
├─ControlPlane - KamajiControlPlane/kamaji-quickstart-control-plane
└─Workers
  └─MachineDeployment/capi-quickstart-md-0                           True                     2m43s
    └─Machine/capi-quickstart-md-0-f5xz7-w54x9                       True                     3m20s
`);
  });

  const machineWith = (name: string, status: object, rest: { owner?: string; deleting?: boolean } = {}): AnyObject =>
    made(core, 'Machine', name, {
      labels: { 'cluster.x-k8s.io/control-plane': '' },
      spec: {
        infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachine', name },
        bootstrap: { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name } },
      },
      status,
      ...rest,
    });
  const controlPlane = made('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', 'cp', {
    spec: {
      replicas: 3,
      machineTemplate: {
        spec: {
          infrastructureRef: {
            apiGroup: 'infrastructure.cluster.x-k8s.io',
            kind: 'OpenStackMachineTemplate',
            name: 'cp',
          },
        },
      },
    },
    status: {
      ...legacyReady('False', 60, {
        severity: 'Warning',
        reason: 'ScalingUp',
        message: 'Scaling up control plane to 3 replicas (actual 2)',
      }),
      replicas: 3,
      readyReplicas: 2,
      availableReplicas: 2,
      upToDateReplicas: 3,
      conditions: [
        modern('Available', 'False', 60, { message: 'two of three are not enough\n* cp-3: the server is in ERROR' }),
      ],
    },
  });
  const onMachines = made(core, 'Cluster', 'capi-quickstart', {
    spec: {
      controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'cp' },
    },
    status: {
      ...legacyReady('False', 70, { severity: 'Warning', reason: 'ScalingUp', message: 'Scaling up' }),
      conditions: [modern('Available', 'False', 70, { message: 'the control plane is not available' })],
      controlPlane: { desiredReplicas: 3, replicas: 3, readyReplicas: 2, availableReplicas: 2, upToDateReplicas: 3 },
      workers: { desiredReplicas: 0, replicas: 0, readyReplicas: 0, availableReplicas: 0, upToDateReplicas: 0 },
    },
  });
  const good = {
    ...legacyReady('True', 300),
    conditions: [modern('Available', 'True', 290), modern('Ready', 'True', 300), modern('UpToDate', 'True', 400)],
  };
  const broken = {
    ...legacyReady('False', 30, {
      severity: 'Error',
      reason: 'InstanceStateError',
      message: 'No valid host was found',
    }),
    conditions: [
      modern('Available', 'False', 30),
      modern('Ready', 'False', 30, { reason: 'NotReady', message: 'No valid host was found' }),
    ],
  };
  const three = [
    controlPlane,
    machineWith('cp-1', good),
    machineWith('cp-2', { ...good, ...legacyReady('True', 600) }),
    machineWith('cp-3', broken),
  ];

  it('shows why machines are stuck instead of a step count', () => {
    const stuck = (message: string): object => ({
      deprecated: {
        v1beta1: {
          conditions: [
            { type: 'Ready', status: 'False', reason: 'InstanceCreateFailed', message: '1 of 2 completed' },
            { type: 'InfrastructureReady', status: 'False', reason: 'InstanceCreateFailed', message },
          ],
        },
      },
    });
    const shown = (...messages: string[]): string =>
      print(onMachines, [
        controlPlane,
        ...messages.map((message, index) => machineWith(`cp-${index}`, stuck(message))),
      ]);
    expect(shown('Quota exceeded for cores')).toMatch(
      /Machine\/cp-0 .* InstanceCreateFailed +Quota exceeded for cores\n/,
    );
    expect(shown('Quota exceeded', 'Quota exceeded')).toMatch(/2 Machines\.\.\. .* See cp-0, cp-1: Quota exceeded\n/);
    expect(shown('Quota exceeded', 'No valid host')).toMatch(/2 Machines\.\.\. .* See cp-0, cp-1\n/);
  });

  it('groups machines in the same state on one line with the oldest change', () => {
    expect(print(onMachines, three)).toBe(`
NAME                                     READY  SEVERITY  REASON              SINCE  MESSAGE
Cluster/capi-quickstart                  False  Warning   ScalingUp           70s    Scaling up
└─ControlPlane - KubeadmControlPlane/cp  False  Warning   ScalingUp           60s    Scaling up control plane to 3 replicas (actual 2)
  ├─2 Machines...                        True                                 10m    See cp-1, cp-2
  └─Machine/cp-3                         False  Error     InstanceStateError  30s    No valid host was found
`);
  });

  it('shows one line per machine when grouping is off', () => {
    const tree = clusterTree({ cluster: onMachines, objects: three }, { ...plain, grouping: false });
    expect(titles(tree)).toEqual([
      'Cluster/capi-quickstart',
      ['ControlPlane - KubeadmControlPlane/cp', ['Machine/cp-1', 'Machine/cp-2', 'Machine/cp-3']],
    ]);
  });

  it('names two members of a group and marks that there are more', () => {
    const text = print(onMachines, [controlPlane, ...['a', 'b', 'c'].map((name) => machineWith(name, good))]);
    expect(text).toContain('3 Machines...');
    expect(text).toContain('See a, b, ...');
  });

  it('does not group machines that are being deleted with others', () => {
    const going = machineWith('cp-9', good, { deleting: true });
    const tree = clusterTree({ cluster: onMachines, objects: [...three, going] }, plain);
    expect(titles(tree)).toEqual([
      'Cluster/capi-quickstart',
      ['ControlPlane - KubeadmControlPlane/cp', ['!! DELETED !! Machine/cp-9', '2 Machines...', 'Machine/cp-3']],
    ]);
  });

  it('shows parts of a machine whose state differs, and with echo all of them', () => {
    const parts = [
      made(infrastructure, 'OpenStackMachine', 'cp-3', {
        status: legacyReady('False', 20, { severity: 'Error', reason: 'QuotaExceeded', message: 'cores' }),
      }),
      made(bootstrap, 'KubeadmConfig', 'cp-3', { status: legacyReady('True', 25) }),
    ];
    const shown = (echo: boolean): unknown =>
      titles(
        clusterTree(
          { cluster: onMachines, objects: [controlPlane, machineWith('cp-3', broken), ...parts] },
          { ...plain, echo },
        ),
      );
    const infrastructureTitle = 'MachineInfrastructure - OpenStackMachine/cp-3';
    expect(shown(false)).toEqual([
      'Cluster/capi-quickstart',
      ['ControlPlane - KubeadmControlPlane/cp', ['Machine/cp-3', [infrastructureTitle]]],
    ]);
    expect(shown(true)).toEqual([
      'Cluster/capi-quickstart',
      [
        'ControlPlane - KubeadmControlPlane/cp',
        ['Machine/cp-3', ['BootstrapConfig - KubeadmConfig/cp-3', infrastructureTitle]],
      ],
    ]);
  });

  it('shows templates first, and machine sets when asked', () => {
    const template = (kind: string): object => ({ apiGroup: 'x.cluster.x-k8s.io', kind, name: 'md' });
    const objects = [
      controlPlane,
      made(core, 'MachineDeployment', 'md', {
        spec: {
          template: {
            spec: {
              bootstrap: { configRef: template('KubeadmConfigTemplate') },
              infrastructureRef: template('OpenStackMachineTemplate'),
            },
          },
        },
      }),
      made(core, 'MachineSet', 'md-1', { owner: 'MachineDeployment/md' }),
      made(core, 'Machine', 'md-1-a', { owner: 'MachineSet/md-1' }),
    ];
    const tree = clusterTree(
      { cluster: onMachines, objects: objects },
      { ...plain, showTemplates: true, showMachineSets: true },
    );
    expect(titles(tree)).toEqual([
      'Cluster/capi-quickstart',
      [
        'ControlPlane - KubeadmControlPlane/cp',
        ['Templates', ['MachineInfrastructureTemplate - OpenStackMachineTemplate/cp']],
        'Workers',
        [
          'MachineDeployment/md',
          [
            'Templates',
            [
              'BootstrapConfigTemplate - KubeadmConfigTemplate/md',
              'MachineInfrastructureTemplate - OpenStackMachineTemplate/md',
            ],
            'MachineSet/md-1',
            ['Machine/md-1-a'],
          ],
        ],
      ],
    ]);
  });

  it('shows machines without an owner under Other', () => {
    const objects = [
      made(core, 'MachineSet', 'alone'),
      made(core, 'Machine', 'alone-1', { owner: 'MachineSet/alone' }),
      made(core, 'Machine', 'stray'),
    ];
    expect(titles(clusterTree({ cluster: onMachines, objects: objects }, plain))).toEqual([
      'Cluster/capi-quickstart',
      ['Workers', ['MachineSet/alone', ['Machine/alone-1'], 'Other', ['Machine/stray']]],
    ]);
  });

  it('shows the ClusterResourceSets bound to the cluster', () => {
    const binding = made('addons.cluster.x-k8s.io/v1beta2', 'ClusterResourceSetBinding', 'capi-quickstart', {
      spec: { bindings: [{ clusterResourceSetName: 'cni' }] },
    });
    expect(
      titles(clusterTree({ cluster: onMachines, objects: [binding] }, { ...plain, showResourceSets: true })),
    ).toEqual(['Cluster/capi-quickstart', ['ClusterResourceSets', ['ClusterResourceSet/cni']]]);
  });

  it('shows all conditions of the requested objects below them', () => {
    expect(print(onMachines, [controlPlane], { showConditions: ['cluster'], legacyConditions: false })).toBe(`
NAME                                     REPLICAS  AVAILABLE  READY  UP TO DATE  STATUS  REASON     SINCE  MESSAGE
Cluster/capi-quickstart                  3/3       2          2      3
│           └─Available                                                          False   Available  70s    the control plane is not available
└─ControlPlane - KubeadmControlPlane/cp  3/3       2          2      3           False   Available  60s    two of three are not enough
                                                                                                           * cp-3: the server is in ERROR
`);
  });

  it('shows replicas and availability in the v1beta2 format', () => {
    expect(print(onMachines, three, { legacyConditions: false })).toBe(`
NAME                                     REPLICAS  AVAILABLE  READY  UP TO DATE  STATUS  REASON     SINCE  MESSAGE
Cluster/capi-quickstart                  3/3       2          2      3           False   Available  70s    the control plane is not available
└─ControlPlane - KubeadmControlPlane/cp  3/3       2          2      3           False   Available  60s    two of three are not enough
  │                                                                                                        * cp-3: the server is in ERROR
  ├─2 Machines...                        2         2          2      2           True    Ready      5m     See cp-1, cp-2
  └─Machine/cp-3                         1         0          0      0           False   NotReady   30s    No valid host was found
`);
  });

  it.each([
    ['all', ['Available', 'Ready', 'UpToDate', 'Paused']],
    ['Machine', ['Available', 'Ready', 'UpToDate', 'Paused']],
    ['machine/cp-1', ['Available', 'Ready', 'UpToDate', 'Paused']],
    ['Machine/cp-2', ['UpToDate']],
    ['MachineSet', ['UpToDate']],
    ['Machine+', ['Available', 'Ready', 'UpToDate']],
  ])('with --show-conditions %s shows %j of a machine', (filter, types) => {
    const status = {
      conditions: [
        modern('Available', 'True', 1),
        modern('Ready', 'True', 1),
        modern('UpToDate', 'False', 1),
        modern('Paused', 'False', 1),
      ],
    };
    const objects = [controlPlane, machineWith('cp-1', status)];
    const tree = clusterTree(
      { cluster: onMachines, objects: objects },
      { ...plain, legacyConditions: false, showConditions: [filter] },
    );
    const machine = tree.children[0]?.children[0];
    expect(machine?.shownConditions.map(({ type }) => type)).toEqual(types);
  });

  it.each([true, false])('shows long messages in full (v1beta1 %j), wrapped or on one line', (legacyConditions) => {
    const message = `${'word '.repeat(30)}end`;
    const status = {
      ...legacyReady('False', 5, { message }),
      conditions: [modern('Available', 'False', 5, { message })],
    };
    const cluster = made(core, 'Cluster', 'long', { status });
    const broken = print(cluster, [], { legacyConditions }).trim().split('\n').slice(1);
    expect(broken).toHaveLength(2);
    expect(broken.map((line) => line.slice(line.indexOf('word'))).join(' ')).toBe(message);
    const tree = clusterTree({ cluster, objects: [] }, { ...plain, legacyConditions });
    expect(renderTree(tree, 'readiness', { nowMs, colour: false, wide: true })).toContain(` ${message}\n`);
  });
});

describe('details in the tree of a cluster', () => {
  const truth = { ...plain, legacyConditions: false };
  const shownOf = (cluster: AnyObject, objects: AnyObject[]): string[] =>
    lines(renderTree(clusterTree({ cluster, objects }, truth), 'readiness', { nowMs, colour: false }));
  const healthy = { conditions: [modern('Available', 'True', 60)] };
  const reference = (kind: string, name: string): object => ({ apiGroup: 'x.cluster.x-k8s.io', kind, name });
  const cluster = (spec: object, conditions = healthy.conditions): AnyObject =>
    made(core, 'Cluster', 'c', { spec, status: { conditions } });
  const lines = (text: string): string[] => text.trim().split('\n').slice(1);

  it('shows a control plane and an infrastructure that do not exist', () => {
    const found = {
      cluster: cluster({ controlPlaneRef: reference('KCP', 'cp'), infrastructureRef: reference('OSC', 'i') }),
      objects: [],
      missing: [
        { group: 'x.cluster.x-k8s.io', kind: 'KCP', name: 'cp' },
        { group: 'x.cluster.x-k8s.io', kind: 'OSC', name: 'i' },
      ],
    };
    const tree = clusterTree(found, truth);
    const shown = renderTree(tree, 'readiness', { nowMs, colour: false });
    expect(lines(shown)).toEqual([
      expect.stringMatching(/^Cluster\/c +True +60s$/),
      expect.stringMatching(/^├─ClusterInfrastructure - OSC\/i +False +Warning +NotFound +OSC "i" does not exist$/),
      expect.stringMatching(/^└─ControlPlane - KCP\/cp +False +Warning +NotFound +KCP "cp" does not exist$/),
    ]);
    const going = {
      ...found,
      cluster: { ...found.cluster, metadata: { ...found.cluster.metadata, deletionTimestamp: 'x' } },
    };
    expect(clusterTree(going, truth).children).toEqual([]);
  });

  it.each<[string, object, object, RegExp]>([
    [
      'a pause that no controller has observed',
      { paused: true },
      {},
      /Paused +True +Warning +Paused +spec\.paused is true/,
    ],
    [
      'a pause',
      { paused: true },
      {
        conditions: [
          ...healthy.conditions,
          modern('Paused', 'True', 5, { message: 'Cluster spec.paused is set to true' }),
        ],
      },
      /Paused +True +Warning +Paused +5s +Cluster spec\.paused is set to true/,
    ],
    [
      'a topology without a controller',
      { topology: { classRef: { name: 'quick' }, version: 'v1.34.1' } },
      {},
      /TopologyReconciled +Unknown +Info +NotActedOn +spec\.topology \(class "quick"\) has not been acted on/,
    ],
    [
      'a topology that fails',
      { topology: { classRef: { name: 'quick' } } },
      {
        conditions: [
          ...healthy.conditions,
          modern('TopologyReconciled', 'False', 5, { reason: 'Failed', message: 'no class' }),
        ],
      },
      /TopologyReconciled +False +Warning +Failed +5s +no class/,
    ],
  ])('shows %s', (_what, spec, status, line) => {
    const one = made(core, 'Cluster', 'c', { spec, status: { ...healthy, ...status } });
    const shown = shownOf(one, []);
    expect(shown[0]).toMatch(/^Cluster\/c +True/);
    const besideTopology = shown.slice(1).filter((shownLine) => !shownLine.startsWith('└─Topology'));
    expect(besideTopology).toEqual([expect.stringMatching(line)]);
  });

  it('shows a control plane whose upgrade is held, and one whose change was not observed', () => {
    const held = modern('RollingOut', 'True', 5, { reason: 'Held', message: 'upgrade the workers first' });
    const plane = made('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', 'cp', {
      spec: { version: 'v1.34.1' },
      status: { version: 'v1.33.0', observedGeneration: 1, conditions: [modern('Available', 'True', 9), held] },
    });
    (plane.metadata as { generation?: number }).generation = 2;
    const root = made(core, 'Cluster', 'c', {
      spec: { controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'cp' } },
      status: healthy,
    });
    expect(shownOf(root, [plane]).slice(1)).toEqual([
      expect.stringMatching(/ControlPlane - KubeadmControlPlane\/cp +True +9s/),
      expect.stringMatching(/RollingOut +True +Warning +Held +5s +upgrade the workers first/),
      expect.stringMatching(/Observed +False +Warning +NotObserved +the status is of generation 1, the spec of 2/),
      expect.stringMatching(/Version +False +Warning +VersionDiffers +it runs v1\.33\.0, v1\.34\.1 is wanted/),
    ]);
  });

  it.each<[string, object, object, RegExp | undefined]>([
    [
      'another version',
      { version: 'v1.34.1' },
      { nodeRef: { name: 'n' }, nodeInfo: { kubeletVersion: 'v1.33.0' } },
      /the kubelet of its Node runs v1\.33\.0, v1\.34\.1 is wanted/,
    ],
    [
      'the same version in other words',
      { version: '1.34.1' },
      { nodeRef: { name: 'n' }, nodeInfo: { kubeletVersion: 'v1.34.1+k0s' } },
      undefined,
    ],
    ['no Node', {}, { phase: 'Provisioned' }, /NoNode +its server exists, but no Node has its providerID/],
    ['no server yet', {}, { phase: 'Pending' }, undefined],
  ])('shows of a machine: %s', (_what, spec, status, line) => {
    const machine = (name: string): AnyObject =>
      made(core, 'Machine', name, { spec, status: { ...status, conditions: [modern('Ready', 'True', 9)] } });
    const [, , , , ...rows] = shownOf(made(core, 'Cluster', 'c', { status: healthy }), [
      machine('m-1'),
      machine('m-2'),
    ]);
    expect(rows).toEqual(line ? [expect.stringMatching(line)] : []);
  });

  it('strips control sequences from messages', () => {
    const message = 'a\u001b[2J\u001b]0;owned\u0007b\rc';
    const shown = shownOf(cluster({}, [modern('Available', 'False', 5, { message, reason: 'X\u001b[31m' })]), []);
    expect(shown).toEqual([expect.stringMatching(/^Cluster\/c +False +Warning +X +5s +ab c$/)]);
  });

  it('shows a control plane that is scaled to zero', () => {
    const ref = { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'K0smotronControlPlane', name: 'cp' };
    const root = made(core, 'Cluster', 'c', { spec: { controlPlaneRef: ref }, status: healthy });
    const plane = (conditions: object[]): AnyObject =>
      made('controlplane.cluster.x-k8s.io/v1beta1', 'K0smotronControlPlane', 'cp', {
        spec: { replicas: 0 },
        status: { conditions },
      });
    expect(shownOf(root, [plane(healthy.conditions)])[2]).toMatch(
      /Asleep +True +Warning +Hibernated +spec\.replicas is 0/,
    );
    const said = modern('Available', 'False', 5, { reason: 'Hibernated', message: 'the control plane is hibernated' });
    expect(shownOf(root, [plane([said])])).toHaveLength(2);
  });

  it('shows a pause once, however many objects are paused', () => {
    const paused = modern('Paused', 'True', 5, { message: 'Cluster spec.paused is set to true' });
    const root = made(core, 'Cluster', 'c', {
      spec: { paused: true },
      status: { conditions: [...healthy.conditions, paused] },
    });
    const conditions = [modern('Ready', 'True', 9), paused];
    const shown = shownOf(root, [made(core, 'Machine', 'm', { status: { conditions } })]);
    expect(shown.filter((line) => line.includes('Paused'))).toHaveLength(1);
    const alone = { ...paused, message: 'Machine has the cluster.x-k8s.io/paused annotation' };
    const other = shownOf(root, [made(core, 'Machine', 'm', { status: { conditions: [conditions[0], alone] } })]);
    expect(other.filter((line) => line.includes('Paused'))).toHaveLength(2);
  });

  it('shows the same message only once', () => {
    const summed = modern('Available', 'False', 9, {
      reason: 'NotAvailable',
      message: '* RemoteConnectionProbe: no answer',
    });
    const probe = modern('RemoteConnectionProbe', 'False', 9, { message: 'no answer' });
    expect(shownOf(cluster({}, [summed, probe]), [])).toHaveLength(1);
  });
});

describe('the tree of a cluster with a topology', () => {
  it('shows its class, variables, add-ons and pending hooks', () => {
    const bare = made(core, 'Cluster', 'demo', {
      spec: {
        topology: {
          classRef: { name: 'plain' },
          version: 'v1.33.6',
          variables: [{ name: 'imageName', value: 'ubuntu' }],
          controlPlane: { variables: { overrides: [{ name: 'flavor', value: { cpu: 2 } }] } },
          workers: {
            machineDeployments: [
              { class: 'w', name: 'md-0', variables: { overrides: [{ name: 'flavor', value: 'x'.repeat(80) }] } },
            ],
          },
        },
      },
    });
    const hooks = 'AfterClusterUpgrade,AfterWorkersUpgrade';
    const annotations = { 'runtime.cluster.x-k8s.io/pending-hooks': hooks };
    const cluster = { ...bare, metadata: { ...bare.metadata, annotations } };
    const addon = made('clusterstack.x-k8s.io/v1alpha1', 'ClusterAddon', 'cluster-addon-demo', {});
    const tree = clusterTree({ cluster, objects: [addon] }, plain);
    expect(titles(tree)).toEqual([
      'Cluster/demo',
      [
        'Topology - ClusterClass/plain v1.33.6',
        [
          'Hooks to be called',
          ['AfterClusterUpgrade', 'AfterWorkersUpgrade'],
          'Variables',
          ['controlPlane flavor = {"cpu":2}', 'imageName = "ubuntu"', `md-0 flavor = "${'x'.repeat(59)}…`],
        ],
        'Add-ons',
        ['ClusterAddon/cluster-addon-demo'],
      ],
    ]);
  });
});
