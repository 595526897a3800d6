import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  builtinDefinitions,
  builtinSchema,
  type ClusterClass,
  ClusterClasses,
  type ClusterClassSpec,
  Clusters,
  KubeadmControlPlanes,
  type MachineDeploymentClass,
  MachineDeployments,
  Machines,
  Namespaces,
  ownDefinitions,
  protobufRegistry,
  type ReferenceGrant,
  ReferenceGrants,
  type Topology,
} from '../api/index.ts';
import { type ApiServer, controllerBackedPlugins, createApiServer, openObjectStore } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { topologyAdmission } from '../controllers/index.ts';
import { asTyped, type JsonObject, ManualClock, seededRandom, systemClock } from '../machinery/index.ts';
import { memoryEngine } from '../store/index.ts';
import { topologySteps } from './topology-admission.ts';

const by = { fieldManager: 'test' };
const ref = (kind: string) => ({ templateRef: { apiVersion: 'x.example.com/v1', kind, name: 't' } });
const spec = (over: Partial<ClusterClassSpec> = {}): ClusterClassSpec => ({
  infrastructure: ref('InfraTemplate'),
  controlPlane: ref('PlaneTemplate'),
  workers: {
    machineDeployments: [{ class: 'worker', bootstrap: ref('BootTemplate'), infrastructure: ref('MachineTemplate') }],
  },
  variables: [
    { name: 'size', required: true, schema: { openAPIV3Schema: { type: 'integer', minimum: 1 } } },
    { name: 'zone', required: false, schema: { openAPIV3Schema: { type: 'string', default: 'a' } } },
    {
      name: 'net',
      required: false,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { cidr: { type: 'string' }, mtu: { type: 'integer', default: 1450 } },
          'x-kubernetes-validations': [{ rule: 'self.cidr == oldSelf.cidr', message: 'cidr stays' }],
        },
      },
    },
  ],
  ...over,
});
const definition = (jsonPatch: JsonObject, matchResources: JsonObject = { infrastructureCluster: true }) => ({
  name: 'p',
  definitions: [
    { selector: { apiVersion: 'x.example.com/v1', kind: 'InfraTemplate', matchResources }, jsonPatches: [jsonPatch] },
  ],
});

const workers = (over: Partial<MachineDeploymentClass>): Partial<ClusterClassSpec> => ({
  workers: {
    machineDeployments: [
      { class: 'worker', bootstrap: ref('BootTemplate'), infrastructure: ref('MachineTemplate'), ...over },
    ],
  },
});

describe('admission of ClusterClasses and their clusters', () => {
  let server: ApiServer;
  let client: Client;
  const clock = new ManualClock();
  beforeAll(async () => {
    const store = await openObjectStore({ engine: memoryEngine(), clock });
    server = await createApiServer({
      store,
      clock,
      random: seededRandom(1),
      definitions: [...builtinDefinitions, ...ownDefinitions],
      admissionPlugins: { disable: controllerBackedPlugins },
      metaSchema: builtinSchema,
      protobuf: protobufRegistry,
      access: { mode: 'RBAC' },
      admission: () => {
        const admission = () =>
          topologyAdmission({ client: server.localClient(), clock: systemClock, classPatienceMs: 1_000 });
        return topologySteps(admission);
      },
    });
    client = server.localClient();
    for (const name of ['here', 'there']) {
      await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, by);
    }
  });
  afterAll(() => server?.stop(0));

  const classOf = (name: string, over: Partial<ClusterClassSpec> = {}, namespace = 'here'): ClusterClass => ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name, namespace },
    spec: spec(over),
  });
  /** Creates a class with the status of its controller. */
  const ready = async (clusterClass: ClusterClass): Promise<void> =>
    await observe(await client.create(ClusterClasses, clusterClass, by));
  const observe = async (clusterClass: ClusterClass): Promise<void> => {
    const { metadata } = clusterClass;
    const variables = (clusterClass.spec.variables ?? []).map(({ name, ...rest }) => ({
      name,
      definitions: [{ from: 'inline', ...rest }],
    }));
    const status = {
      observedGeneration: metadata.generation ?? 1,
      variables,
      conditions: [
        {
          type: 'VariablesReady',
          status: 'True',
          reason: 'VariablesReady',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    const patch = JSON.parse(JSON.stringify({ status })) as JsonObject;
    await client.patch(ClusterClasses, key, 'merge', patch, { ...by, subresource: 'status' });
  };
  const create = (name: string, topology: Partial<Topology> = {}, namespace = 'here') =>
    client.create(
      Clusters,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name, namespace },
        spec: {
          topology: {
            classRef: { name: 'good' },
            version: 'v1.33.0',
            variables: [{ name: 'size', value: 3 }],
            ...topology,
          },
        },
      },
      by,
    );
  const change = (name: string, topology: JsonObject) =>
    client.patch(Clusters, { namespace: 'here', name }, 'merge', { spec: { topology } }, by);

  it.each<[string, Partial<ClusterClassSpec>, RegExp]>([
    ['a template that is none', { infrastructure: ref('Infra') }, /template kind must end with 'Template'/],
    ['a template of nothing', { infrastructure: ref('Template') }, /template kind must end with 'Template'/],
    [
      'a name that is none',
      { infrastructure: { ...ref('InfraTemplate'), naming: { template: '{{ .cluster.name }}_X' } } },
      /spec\.infrastructure\.naming\.template: .*generated names/,
    ],
    [
      'a name of what is not there',
      { controlPlane: { ...ref('PlaneTemplate'), naming: { template: '{{ .cluster.nam }}' } } },
      /spec\.controlPlane\.naming\.template/,
    ],
    ['versions in disorder', { kubernetesVersions: ['v1.33.0', 'v1.32.0'] }, /kubernetesVersions\[1\].*newer/],
    ['a minor left out', { kubernetesVersions: ['v1.32.0', 'v1.34.0'] }, /minors cannot be left out/],
    [
      'machine pools',
      {
        workers: {
          machinePools: [{ class: 'p', bootstrap: ref('BootTemplate'), infrastructure: ref('PoolTemplate') }],
        },
      },
      /OpenStack has no machine pools: write machineDeployments/,
    ],
    [
      'a reserved variable',
      { variables: [{ name: 'builtin', required: false, schema: { openAPIV3Schema: { type: 'string' } } }] },
      /reserved/,
    ],
    [
      'a variable with a dot',
      { variables: [{ name: 'a.b', required: false, schema: { openAPIV3Schema: { type: 'string' } } }] },
      /cannot contain "\."/,
    ],
    [
      'a schema without a type',
      {
        variables: [
          { name: 'a', required: false, schema: { openAPIV3Schema: { properties: { x: { type: 'string' } } } } },
        ],
      },
      /spec\.variables\[a\]\.schema\.openAPIV3Schema\.type: Required/,
    ],
    [
      'a default against its schema',
      {
        variables: [
          { name: 'a', required: false, schema: { openAPIV3Schema: { type: 'string', maxLength: 1, default: 'ab' } } },
        ],
      },
      /openAPIV3Schema\.default/,
    ],
    [
      'a rule that is no boolean',
      {
        variables: [
          {
            name: 'a',
            required: false,
            schema: { openAPIV3Schema: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self.size()' }] } },
          },
        ],
      },
      /must evaluate to a bool/,
    ],
    [
      'a patch outside of the spec',
      { patches: [definition({ op: 'add', path: '/metadata/x', value: 1 })] as never },
      /must start with/,
    ],
    [
      'a patch beside the spec',
      { patches: [definition({ op: 'add', path: '/specs/x', value: 1 })] as never },
      /must start with "\/spec\/"/,
    ],
    [
      'an index other than the first',
      { patches: [definition({ op: 'add', path: '/spec/a/3', value: 1 })] as never },
      /only index 0/,
    ],
    [
      'a patch of an item',
      { patches: [definition({ op: 'replace', path: '/spec/a/0', value: 1 })] as never },
      /cannot be indexed/,
    ],
    [
      'a patch without a value',
      { patches: [definition({ op: 'add', path: '/spec/a' })] as never },
      /one of value or valueFrom/,
    ],
    [
      'an unknown variable',
      { patches: [definition({ op: 'add', path: '/spec/a', valueFrom: { variable: 'nope' } })] as never },
      /"nope" cannot be found/,
    ],
    [
      'a builtin variable that does not exist',
      {
        patches: [
          definition({ op: 'add', path: '/spec/a', valueFrom: { variable: 'builtin.cluster.network.ipFamily' } }),
        ] as never,
      },
      /no such builtin variable exists/,
    ],
    [
      'a template that cannot be read',
      { patches: [definition({ op: 'add', path: '/spec/a', valueFrom: { template: '{{ .a' } })] as never },
      /template can not be parsed/,
    ],
    [
      'a selector that selects nothing',
      { patches: [definition({ op: 'add', path: '/spec/a', value: 1 }, { controlPlane: true })] as never },
      /selector matches no template/,
    ],
    [
      'a value and its source',
      { patches: [definition({ op: 'add', path: '/spec/a', value: 1, valueFrom: { variable: 'size' } })] as never },
      /can not define both value and valueFrom/,
    ],
    [
      'two sources of a value',
      {
        patches: [
          definition({ op: 'add', path: '/spec/a', valueFrom: { variable: 'size', template: '{{ .size }}' } }),
        ] as never,
      },
      /exactly one of variable or template/,
    ],
    [
      'a removal with a value',
      { patches: [definition({ op: 'remove', path: '/spec/a', value: 1 })] as never },
      /remove takes neither value nor valueFrom/,
    ],
    [
      'a patch of two kinds',
      {
        patches: [
          {
            ...definition({ op: 'remove', path: '/spec/a' }),
            external: { generatePatchesExtension: 'a.b' },
          },
        ] as never,
      },
      /only one of definitions or external/,
    ],
    ['a patch of nothing', { patches: [{ name: 'p' }] as never }, /one of definitions or external must be defined/],
    [
      'an extension without a task',
      { patches: [{ name: 'p', external: { discoverVariablesExtension: 'a.b' } }] as never },
      /one of generatePatchesExtension or validateTopologyExtension/,
    ],
    [
      'two patches of one name',
      {
        patches: [
          definition({ op: 'remove', path: '/spec/a' }),
          definition({ op: 'remove', path: '/spec/b' }),
        ] as never,
      },
      /patch names must be unique/,
    ],
    [
      'a selector of nothing',
      { patches: [definition({ op: 'remove', path: '/spec/a' }, { controlPlane: false })] as never },
      /no resources are selected/,
    ],
    [
      'a star in the middle of a name',
      {
        patches: [
          definition({ op: 'remove', path: '/spec/a' }, { machineDeploymentClass: { names: ['wor*ker'] } }),
        ] as never,
      },
      /"\*" is allowed once, at the beginning or at the end/,
    ],
    [
      'a selector of machine pools',
      {
        patches: [
          definition(
            { op: 'remove', path: '/spec/a' },
            { infrastructureCluster: true, machinePoolClass: { names: ['p'] } },
          ),
        ] as never,
      },
      /OpenStack has no machine pools/,
    ],
    [
      'an enabledIf that cannot be read',
      { patches: [{ ...definition({ op: 'remove', path: '/spec/a' }), enabledIf: '{{ if }}' }] as never },
      /enabledIf.*template can not be parsed/,
    ],
    [
      'two classes of workers of one name',
      {
        workers: {
          machineDeployments: [workers({}), workers({})].flatMap(({ workers: all }) => all?.machineDeployments ?? []),
        },
      },
      /machineDeployments\[1\].*[Dd]uplicate/,
    ],
    [
      'a version that is none',
      { kubernetesVersions: ['latest'] },
      /kubernetesVersions\[0\].*must be a version such as v1\.34\.2/,
    ],
    [
      'a health check without machines',
      { controlPlane: { ...ref('PlaneTemplate'), healthCheck: { checks: { nodeStartupTimeoutSeconds: 60 } } } },
      /machineInfrastructure is set/,
    ],
    [
      'a patch called inline',
      { patches: [{ ...definition({ op: 'add', path: '/spec/a', value: 1 }), name: 'inline' }] as never },
      /patches\[0\]\.name.*no name for a patch/,
    ],
    [
      "a taint that is not the user's",
      {
        controlPlane: {
          ...ref('PlaneTemplate'),
          taints: [{ key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule', propagation: 'Always' }],
        },
      },
      /spec\.controlPlane\.taints\[0\]\.key.*not allowed/,
    ],
    [
      'a label that is none',
      workers({ metadata: { labels: { 'a b': 'c' } } }),
      /machineDeployments\[0\]\.metadata\.labels/,
    ],
    [
      'a rollout that cannot begin',
      workers({ rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } }),
      /machineDeployments\[0\]\.rollout\.strategy.*cannot both be 0/,
    ],
    [
      'a start that may take no time',
      workers({ healthCheck: { checks: { nodeStartupTimeoutSeconds: 5 } } }),
      /machineDeployments\[0\]\.healthCheck\.checks\.nodeStartupTimeoutSeconds.*at least 30s/,
    ],
  ])('refuses a class with %s', async (_, over, message) => {
    await expect(client.create(ClusterClasses, classOf('bad', over), by)).rejects.toThrow(message);
  });

  it('applies defaults to cluster variables and validates them', async () => {
    await ready(classOf('good'));
    const created = await create('c1', {
      variables: [
        { name: 'size', value: 3 },
        { name: 'net', value: { cidr: 'x' } },
      ],
    });
    expect(created.spec.topology?.variables).toEqual([
      { name: 'size', value: 3 },
      { name: 'net', value: { cidr: 'x', mtu: 1450 } },
      { name: 'zone', value: 'a' },
    ]);
    await expect(create('c2', { variables: [{ name: 'zone', value: 'b' }] })).rejects.toThrow(
      /required variable with name "size"/,
    );
    await expect(create('c2', { variables: [{ name: 'size', value: 0 }] })).rejects.toThrow(
      /variables\[size\]\.value: Invalid value: 0: .*greater than or equal to 1/,
    );
    await expect(create('c2', { variables: [{ name: 'siz', value: 1 }] })).rejects.toThrow(
      /no definitions found for variable "siz"/,
    );
    const unknown = [
      { name: 'size', value: 1 },
      { name: 'net', value: { cidr: 'x', colour: 'red' } },
    ];
    await expect(create('c2', { variables: unknown })).rejects.toThrow(/variables\[net\]\.value\.colour/);
    const moved = [
      { name: 'size', value: 3 },
      { name: 'net', value: { cidr: 'y' } },
    ];
    await expect(change('c1', { variables: moved })).rejects.toThrow(/cidr stays/);
  });

  it('lets no kubectl patch drop variables that somebody set, though defaults of the class take their place', async () => {
    await ready(
      classOf('defaulted', {
        variables: [
          { name: 'size', required: false, schema: { openAPIV3Schema: { type: 'integer', default: 1 } } },
          { name: 'zone', required: false, schema: { openAPIV3Schema: { type: 'string', default: 'a' } } },
          { name: 'disk', required: false, schema: { openAPIV3Schema: { type: 'integer', default: 20 } } },
        ],
      }),
    );
    const size = (value: number): JsonObject => ({ name: 'size', value });
    await create('dropped', {
      classRef: { name: 'defaulted' },
      variables: [
        { name: 'size', value: 3 },
        { name: 'zone', value: 'b' },
      ],
    });
    const patch = (variables: JsonObject[] | null) =>
      client.patch(
        Clusters,
        { namespace: 'here', name: 'dropped' },
        'merge',
        { spec: { topology: { variables } } },
        { fieldManager: 'kubectl-patch' },
      );
    await expect(patch([size(5)])).rejects.toThrow(
      /would drop the variables zone\. To change one entry: capstan set variable dropped -n here size=5 or: kubectl patch/,
    );
    await expect(patch(null)).rejects.toThrow(/would drop the variables size, zone/);
    // the patch names all variables that were set, and `disk` has its default before and after
    const { spec } = await patch([size(5), { name: 'zone', value: 'b' }]);
    expect(spec.topology?.variables).toEqual([
      { name: 'size', value: 5 },
      { name: 'zone', value: 'b' },
      { name: 'disk', value: 20 },
    ]);
  });

  it.each<[string, object, RegExp]>([
    ['no spec', {}, /spec: Required value/],
    ['an empty topology', { spec: { topology: {} } }, /spec\.topology\.classRef: Required value/],
    [
      'a class without a name',
      { spec: { topology: { classRef: {}, version: 'v1.33.0' } } },
      /classRef\.name: Required value/,
    ],
  ])('names the missing field of a cluster with %s', async (_what, parts, message) => {
    const incomplete = { metadata: { name: 'incomplete', namespace: 'default' }, ...parts };
    await expect(client.create(Clusters, incomplete as never, by)).rejects.toThrow(message);
  });

  it('waits briefly for a class that was written just before', async () => {
    const written = await client.create(ClusterClasses, classOf('late'), by);
    const late = new Promise((resolve) => setTimeout(resolve, 300)).then(() => observe(written));
    const refused = create('c9', { classRef: { name: 'late' }, variables: [{ name: 'size', value: 0 }] });
    await expect(refused).rejects.toThrow(/greater than or equal to 1/);
    await late;
  });

  it('refuses workers of an unknown class, and machine pools', async () => {
    const worker = { class: 'wrker', name: 'a' };
    await expect(create('c2', { workers: { machineDeployments: [worker] } })).rejects.toThrow(
      /"wrker" does not exist in ClusterClass "good"; it has: worker/,
    );
    await expect(create('c2', { workers: { machinePools: [{ class: 'p', name: 'p' }] } })).rejects.toThrow(
      /no machine pools/,
    );
  });

  it('allows one minor version up, or the versions that the class lists', async () => {
    await expect(change('c1', { version: 'v1.35.0' })).rejects.toThrow(
      /one minor at a time; allowed: newer ones of v1\.33 and any of v1\.34/,
    );
    await expect(change('c1', { version: 'v1.32.0' })).rejects.toThrow(/cannot be decreased/);
    expect((await change('c1', { version: 'v1.34.0' })).spec.topology?.version).toBe('v1.34.0');
    await ready(classOf('listed', { kubernetesVersions: ['v1.31.1', 'v1.32.2', 'v1.33.3'] }));
    const listed = { classRef: { name: 'listed' } };
    await expect(create('c3', { ...listed, version: 'v1.33.0' })).rejects.toThrow(
      /allowed: v1\.31\.1, v1\.32\.2, v1\.33\.3/,
    );
    await create('c3', { ...listed, version: 'v1.31.1' });
    await expect(change('c3', { version: 'v1.33.0' })).rejects.toThrow(/allowed: v1\.31\.1, v1\.32\.2, v1\.33\.3/);
    await change('c3', { version: 'v1.33.3' });
  });

  it('refuses to delete a used class or to remove parts that clusters use', async () => {
    const key = { namespace: 'here', name: 'good' };
    await change('c1', { workers: { machineDeployments: [{ class: 'worker', name: 'a' }] } });
    await expect(client.delete(ClusterClasses, key)).rejects.toThrow(/used by 1 Cluster\(s\): here\/c1/);
    const update = (over: Partial<ClusterClassSpec>) =>
      client.patch(ClusterClasses, key, 'merge', asTyped<JsonObject>({ spec: over } as never), by);
    await expect(update({ workers: null as never })).rejects.toThrow(
      /"worker" cannot be removed: it is used by Cluster c1/,
    );
    await expect(update({ controlPlane: ref('OtherTemplate') })).rejects.toThrow(
      /cannot change from PlaneTemplate of x\.example\.com to OtherTemplate/,
    );
    const variables = spec().variables!.map((variable) =>
      variable.name === 'size'
        ? { ...variable, schema: { openAPIV3Schema: { type: 'integer' as const, minimum: 5 } } }
        : variable,
    );
    await expect(update({ variables })).rejects.toThrow(/Cluster here\/c1 would not be valid any more: .*size/);
    await client.delete(Clusters, { namespace: 'here', name: 'c1' });
    await client.delete(ClusterClasses, key);
  });

  it('refuses to remove versions, health checks and replicas that clusters rely on', async () => {
    const checks = { checks: { nodeStartupTimeoutSeconds: 60 } };
    await ready(classOf('relied', workers({ healthCheck: checks })));
    const worker = { class: 'worker', name: 'a', replicas: 1, healthCheck: { enabled: true } };
    await create('c6', { classRef: { name: 'relied' }, workers: { machineDeployments: [worker] } });
    const key = { namespace: 'here', name: 'relied' };
    const update = (over: Partial<ClusterClassSpec>) =>
      client.patch(ClusterClasses, key, 'merge', asTyped<JsonObject>({ spec: over } as never), by);
    await expect(update(workers({}))).rejects.toThrow(
      /machineDeployments\[0\]\.healthCheck: .*it is used by Cluster here\/c6/,
    );
    await expect(update({ kubernetesVersions: ['v1.20.0'] })).rejects.toThrow(
      /kubernetesVersions: .*v1\.\d+\.\d+ is missing, which Cluster here\/c6 has/,
    );
    const limits = { 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size': '1' };
    await expect(update(workers({ healthCheck: checks, metadata: { annotations: limits } }))).rejects.toThrow(
      /Cluster here\/c6 sets replicas of machine deployment a/,
    );
    // The same from the side of the Cluster.
    await ready(classOf('scaled', workers({ metadata: { annotations: limits } })));
    const scaled = (over: object) =>
      create('c7', {
        classRef: { name: 'scaled' },
        workers: { machineDeployments: [{ class: 'worker', name: 'a', ...over }] },
      });
    await expect(scaled({ replicas: 2 })).rejects.toThrow(/machineDeployments\[a\]\.replicas.*autoscaler/);
    await expect(scaled({ healthCheck: { enabled: true } })).rejects.toThrow(
      /machineDeployments\[a\]\.healthCheck\.enabled.*says what is unhealthy/,
    );
    await expect(
      scaled({ taints: [{ key: 'node.kubernetes.io/x', effect: 'NoExecute', propagation: 'Always' }] }),
    ).rejects.toThrow(/machineDeployments\[a\]\.taints\[0\]\.key/);
    await scaled({});
  });

  it('refuses another class or version while the class is not there or not reconciled', async () => {
    await ready(classOf('first'));
    await create('c10', { classRef: { name: 'first' } });
    await expect(change('c10', { classRef: { name: 'absent' } })).rejects.toThrow(
      /spec\.topology\.classRef: .*ClusterClass here\/absent does not exist/,
    );
    const worker = { class: 'worker', name: 'a', replicas: 1 };
    await client.create(ClusterClasses, classOf('unready', { controlPlane: ref('OtherTemplate') }), by);
    await expect(change('c10', { classRef: { name: 'unready' } })).rejects.toThrow(
      /ClusterClass unready is not compatible with first/,
    );
    await expect(
      create('c11', {
        classRef: { name: 'unready' },
        workers: { machineDeployments: [{ ...worker, class: 'other' }] },
      }),
    ).rejects.toThrow(/"other" does not exist in ClusterClass "unready"/);
    // A class that is changed has to be reconciled again.
    await client.patch(
      ClusterClasses,
      { namespace: 'here', name: 'first' },
      'merge',
      asTyped<JsonObject>({ spec: workers({ minReadySeconds: 5 }) } as never),
      by,
    );
    await expect(change('c10', { version: 'v1.35.0' })).rejects.toThrow(/one minor at a time/);
    const scaled = await change('c10', { workers: { machineDeployments: [worker] } });
    expect(scaled.spec.topology?.workers?.machineDeployments?.[0]?.replicas).toBe(1);
  });

  it('refuses another version until the one before is everywhere', async () => {
    await ready(classOf('busy'));
    await create('c13', { classRef: { name: 'busy' } });
    const group = 'controlplane.cluster.x-k8s.io';
    const reference = (kind: string, apiGroup: string) => ({ apiGroup, kind, name: 'c13' });
    await client.patch(
      Clusters,
      { namespace: 'here', name: 'c13' },
      'merge',
      { spec: { controlPlaneRef: reference('KubeadmControlPlane', group) } },
      by,
    );
    const next = (annotations: JsonObject = {}, version = 'v1.34.0') =>
      client.patch(
        Clusters,
        { namespace: 'here', name: 'c13' },
        'merge',
        { metadata: { annotations }, spec: { topology: { version } } },
        by,
      );
    const infrastructureRef = reference('OpenStackMachineTemplate', 'infrastructure.cluster.x-k8s.io');
    await client.create(
      KubeadmControlPlanes,
      {
        apiVersion: `${group}/v1beta2`,
        kind: 'KubeadmControlPlane',
        metadata: { name: 'c13', namespace: 'here' },
        spec: {
          version: 'v1.33.0',
          replicas: 1,
          machineTemplate: { spec: { infrastructureRef } },
        },
      } as never,
      by,
    );
    const runs = (version: string) =>
      client.patch(
        KubeadmControlPlanes,
        { namespace: 'here', name: 'c13' },
        'merge',
        { status: { version } },
        { ...by, subresource: 'status' },
      );
    await expect(next()).rejects.toThrow(
      /version cannot be changed from v1\.33\.0 to v1\.34\.0 now: .* is being created/,
    );
    await runs('v1.32.0');
    await expect(next()).rejects.toThrow(/KubeadmControlPlane c13 is being upgraded to it; wait for condition/);
    await runs('v1.33.0');
    const labels = { 'cluster.x-k8s.io/cluster-name': 'c13', 'topology.cluster.x-k8s.io/owned': '' };
    const machine = (version: string) => ({
      clusterName: 'c13',
      version,
      bootstrap: { dataSecretName: 's' },
      infrastructureRef,
    });
    const workload = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      metadata: { name: 'c13-md', namespace: 'here', labels },
    };
    const deployment = {
      ...workload,
      kind: 'MachineDeployment',
      spec: {
        clusterName: 'c13',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: machine('v1.32.0') },
      },
    };
    await client.create(MachineDeployments, deployment as never, by);
    await expect(next()).rejects.toThrow(/MachineDeployment c13-md is not upgraded to it yet/);
    const key = { namespace: 'here', name: 'c13-md' };
    await client.patch(MachineDeployments, key, 'merge', { spec: { template: { spec: { version: 'v1.33.0' } } } }, by);
    await client.create(Machines, { ...workload, kind: 'Machine', spec: machine('v1.32.0') } as never, by);
    await expect(next()).rejects.toThrow(/Machine c13-md is not replaced by one of that version yet/);
    await client.delete(Machines, key);
    const pending = { 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' };
    await client.patch(
      Clusters,
      { namespace: 'here', name: 'c13' },
      'merge',
      { metadata: { annotations: pending } },
      by,
    );
    await expect(next()).rejects.toThrow(/the upgrade to it is not completed yet/);
    // the annotation switches all checks of the version off
    const unsafe = { 'unsafe.topology.cluster.x-k8s.io/disable-update-version-check': '' };
    expect((await next(unsafe, 'v1.36.0')).spec.topology?.version).toBe('v1.36.0');
    expect((await next(unsafe, 'v1.33.0')).spec.topology?.version).toBe('v1.33.0');
    await client.patch(
      Clusters,
      { namespace: 'here', name: 'c13' },
      'merge',
      {
        metadata: {
          annotations: {
            ...unsafe,
            'runtime.cluster.x-k8s.io/pending-hooks': null,
            'unsafe.topology.cluster.x-k8s.io/disable-update-version-check': null,
          },
        },
      },
      by,
    );
    expect((await next()).spec.topology?.version).toBe('v1.34.0');
  });

  it('does not store the default of a variable for replicas beside a field that somebody set', async () => {
    const count = {
      name: 'count',
      required: false,
      schema: { openAPIV3Schema: { type: 'integer' as const, default: 3, maximum: 5 } },
    };
    const counted = classOf('counted', { variables: [count] });
    counted.metadata.annotations = { 'topology.capstan.dev/control-plane-replicas-variable': 'count' };
    await ready(counted);
    const at = { classRef: { name: 'counted' }, variables: undefined as never };
    const alone = await create('c16', { ...at, controlPlane: { replicas: 1 } });
    expect(alone.spec.topology?.variables ?? []).toEqual([]);
    const unset = await create('c17', at);
    expect(unset.spec.topology?.variables).toEqual([{ name: 'count', value: 3 }]);
    const both = await create('c18', {
      ...at,
      controlPlane: { replicas: 1 },
      variables: [{ name: 'count', value: 5 }],
    });
    expect(both.spec.topology?.variables).toEqual([{ name: 'count', value: 5 }]);
    await expect(create('c19', { ...at, controlPlane: { replicas: 7 } })).rejects.toThrow(
      /variables\[count\]\.value: .*less than or equal to 5/,
    );
  });

  it('gives a topology only to Clusters that were created with one, unless an annotation says otherwise', async () => {
    await ready(classOf('given'));
    const key = { namespace: 'here', name: 'c14' };
    const plain = { infrastructureRef: { apiGroup: 'x.example.com', kind: 'Infra', name: 'i' } };
    const made = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata: key, spec: plain };
    await client.create(Clusters, made as never, by);
    const topology = { classRef: { name: 'given' }, version: 'v1.33.0', variables: [{ name: 'size', value: 1 }] };
    const give = (annotations: JsonObject) =>
      client.patch(Clusters, key, 'merge', { metadata: { annotations }, spec: { topology } }, by);
    await expect(give({})).rejects.toThrow(/spec\.topology\.class: Forbidden: classRef cannot be set on an existing/);
    const unsafe = { 'unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check': '' };
    expect((await give(unsafe)).spec.topology?.version).toBe('v1.33.0');
    await ready(classOf('unlike', { controlPlane: ref('OtherTemplate') }));
    await expect(change('c14', { classRef: { name: 'unlike' } })).resolves.toBeDefined();
  });

  it('refuses a health check of a control plane without machines, and one that nothing defines', async () => {
    await ready(classOf('hosted'));
    const checked = (healthCheck: object) =>
      create('c15', { classRef: { name: 'hosted' }, controlPlane: { healthCheck } } as never);
    await expect(checked({ checks: { nodeStartupTimeoutSeconds: 60 } })).rejects.toThrow(
      /controlPlane\.healthCheck: Forbidden: .*machineInfrastructure is set in ClusterClass hosted/,
    );
    await expect(checked({ enabled: true })).rejects.toThrow(
      /controlPlane\.healthCheck\.enabled.*says what is unhealthy/,
    );
    await expect(create('a'.repeat(64))).rejects.toThrow(/must be a valid label value/);
  });

  it('refuses a class whose versions lack the one of the Cluster', async () => {
    await ready(classOf('free'));
    await create('c12', { classRef: { name: 'free' }, version: 'v1.33.0' });
    await ready(classOf('newer', { kubernetesVersions: ['v1.33.3', 'v1.34.1'] }));
    await expect(change('c12', { classRef: { name: 'newer' } })).rejects.toThrow(
      /spec\.topology\.version: .*spec\.kubernetesVersions of ClusterClass newer; allowed: v1\.33\.3, v1\.34\.1/,
    );
    const moved = await change('c12', { classRef: { name: 'newer' }, version: 'v1.33.3' });
    expect(moved.spec.topology?.version).toBe('v1.33.3');
  });

  it('refuses to move a cluster to a class with other kinds', async () => {
    await ready(classOf('other', { controlPlane: ref('OtherTemplate') }));
    await ready(classOf('alike'));
    await expect(change('c3', { classRef: { name: 'other' } })).rejects.toThrow(
      /ClusterClass other is not compatible with listed: spec\.controlPlane\.templateRef/,
    );
    await change('c3', { classRef: { name: 'alike' } });
  });

  it('needs a ReferenceGrant for a class of another namespace', async () => {
    await ready(classOf('shared', {}, 'there'));
    const shared = { classRef: { name: 'shared', namespace: 'there' } };
    await expect(create('c4', shared)).rejects.toThrow(
      /no ReferenceGrant there lets Cluster objects .*, or it does not exist yet/,
    );
    const grant: ReferenceGrant = {
      apiVersion: `${ReferenceGrants.group}/${ReferenceGrants.version}`,
      kind: 'ReferenceGrant',
      metadata: { name: 'classes', namespace: 'there' },
      spec: {
        from: [{ group: 'cluster.x-k8s.io', kind: 'Cluster', namespace: 'here' }],
        to: [{ group: 'cluster.x-k8s.io', kind: 'ClusterClass' }],
      },
    };
    await client.create(ReferenceGrants, grant, by);
    await create('c4', shared);
    await expect(client.delete(ClusterClasses, { namespace: 'there', name: 'shared' })).rejects.toThrow(/here\/c4/);
  });

  it('needs no grant for a class whose annotation offers it to the namespace', async () => {
    const offered = classOf('offered', {}, 'there');
    const to = (names: string): typeof offered => ({
      ...offered,
      metadata: { ...offered.metadata, annotations: { 'topology.capstan.dev/offered-to': names } },
    });
    await ready(to('elsewhere, nowhere'));
    const topology = { classRef: { name: 'offered', namespace: 'there' } };
    // The grant of the previous test would allow this.
    await client.delete(ReferenceGrants, { namespace: 'there', name: 'classes' });
    await expect(create('c5', topology)).rejects.toThrow(/no ReferenceGrant there/);
    const key = { namespace: 'there', name: 'offered' };
    const patch = { metadata: { annotations: { 'topology.capstan.dev/offered-to': 'elsewhere, here' } } };
    await client.patch(ClusterClasses, key, 'merge', patch, by);
    await create('c5', topology);
    await expect(client.delete(ClusterClasses, key)).rejects.toThrow(/here\/c5/);
  });

  it('waits briefly for a class of another namespace that is written together with its Cluster', async () => {
    const shared = classOf('soon', {}, 'there');
    shared.metadata.annotations = { 'topology.capstan.dev/offered-to': '*' };
    const [made] = await Promise.all([
      create('c8', { classRef: { name: 'soon', namespace: 'there' } }),
      Promise.resolve().then(() => ready(shared)),
    ]);
    expect(made.spec.topology?.variables).toContainEqual({ name: 'zone', value: 'a' });
  });
});
