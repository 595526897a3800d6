import {
  ClusterClasses,
  Clusters,
  KubeadmConfigTemplates,
  KubeadmControlPlaneTemplates,
  OpenStackClusterTemplates,
  OpenStackMachineTemplates,
} from '../../src/api/index.ts';
import { isInvalid, type JsonObject, type KubeObject, type Resource } from '../../src/machinery/index.ts';
import { type Change, changes, patch, pick, type Story, type Style, tell } from './actions.ts';
import { type ClusterSpec, type Manifest, namespace, nodeRegistration, versions } from './cluster-manifests.ts';

// Clusters from a ClusterClass. Resource names equal those of clusters without one, so the same checks find them.

const className = (desired: ClusterSpec): string => `class-${desired.name}`;

const object = (resource: Resource<KubeObject>, name: string, spec: JsonObject): Manifest => ({
  resource,
  object: {
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: { name, namespace },
    spec,
  } as KubeObject,
});

const reference = ({ group, version, kind }: Resource, name: string): JsonObject => ({
  templateRef: { apiVersion: `${group}/${version}`, kind, name },
});

/** A change by an administrator to all clusters of a class. */
const marks = (generation: number): JsonObject => ({
  name: 'marks',
  definitions: [
    {
      selector: machineSelector,
      jsonPatches: [{ op: 'add', path: '/spec/template/spec/tags', value: [`generation-${generation}`] }],
    },
  ],
});

const machineSelector: JsonObject = {
  apiVersion: `${OpenStackMachineTemplates.group}/${OpenStackMachineTemplates.version}`,
  kind: OpenStackMachineTemplates.kind,
  matchResources: { controlPlane: true, machineDeploymentClass: { names: ['*'] } },
};

/** Patches of a class. Another generation results in other machines. */
export const patchesOf = (generation: number): JsonObject[] => [
  {
    name: 'machines',
    definitions: [
      {
        selector: machineSelector,
        jsonPatches: [
          { op: 'replace', path: '/spec/template/spec/flavor/filter/name', valueFrom: { variable: 'flavor' } },
          {
            op: 'replace',
            path: '/spec/template/spec/image/filter/name',
            valueFrom: {
              template:
                'ubuntu-capi-image-{{ with .builtin.machineDeployment }}{{ .version }}{{ else }}{{ .builtin.controlPlane.version }}{{ end }}',
            },
          },
        ],
      },
    ],
  },
  marks(generation),
];

const healthCheck: JsonObject = {
  checks: {
    unhealthyNodeConditions: ['Unknown', 'False'].map((status) => ({ type: 'Ready', status, timeoutSeconds: 120 })),
  },
};

/** Builds a cluster with its class and templates. */
export function topologyManifests(desired: ClusterSpec, name: string = className(desired)): Manifest[] {
  const checked = desired.healthCheck ? { healthCheck } : {};
  return [
    object(Clusters, desired.name, {
      clusterNetwork: { pods: { cidrBlocks: ['192.168.0.0/16'] } },
      topology: {
        classRef: { name },
        version: desired.version,
        controlPlane: { replicas: desired.controlPlanes },
        workers: workersOf(desired),
        variables: [{ name: 'flavor', value: desired.flavor }],
      },
    }),
    object(ClusterClasses, name, {
      infrastructure: {
        ...reference(OpenStackClusterTemplates, name),
        naming: { template: '{{ .cluster.name }}' },
      },
      controlPlane: {
        ...reference(KubeadmControlPlaneTemplates, name),
        machineInfrastructure: reference(OpenStackMachineTemplates, name),
        naming: { template: '{{ .cluster.name }}-control-plane' },
        ...checked,
      },
      workers: {
        machineDeployments: [
          {
            class: 'worker',
            bootstrap: reference(KubeadmConfigTemplates, name),
            infrastructure: reference(OpenStackMachineTemplates, name),
            naming: { template: '{{ .cluster.name }}-{{ .machineDeployment.topologyName }}' },
            ...checked,
          },
        ],
      },
      kubernetesVersions: [...versions],
      variables: [{ name: 'flavor', required: true, schema: { openAPIV3Schema: { type: 'string' } } }],
      patches: patchesOf(0),
    }),
    object(OpenStackClusterTemplates, name, {
      template: {
        spec: {
          identityRef: { name: 'cloud-config', cloudName: 'openstack' },
          managedSubnets: [{ cidr: `10.${20 + desired.index}.0.0/24`, dnsNameservers: ['9.9.9.9'] }],
          managedSecurityGroups: { allowAllInClusterTraffic: true },
          ...(desired.endpoint === 'load-balancer' && { apiServer: { managedLoadBalancer: { enabled: true } } }),
        },
      },
    }),
    object(KubeadmControlPlaneTemplates, name, {
      template: {
        spec: {
          kubeadmConfigSpec: { initConfiguration: { nodeRegistration }, joinConfiguration: { nodeRegistration } },
        },
      },
    }),
    object(KubeadmConfigTemplates, name, { template: { spec: { joinConfiguration: { nodeRegistration } } } }),
    object(OpenStackMachineTemplates, name, {
      template: {
        spec: {
          flavor: { filter: { name: 'set-by-a-patch' } },
          image: { filter: { name: 'set-by-a-patch' } },
          sshKeyName: 'demo',
          ...(desired.bootFromVolume && { rootVolume: { sizeGiB: 20 } }),
        },
      },
    }),
  ];
}

const workersOf = ({ workers }: ClusterSpec): JsonObject => ({
  machineDeployments: [{ class: 'worker', name: 'md-0', replicas: workers }],
});

const change = (story: Story, { name }: ClusterSpec, topology: JsonObject): Promise<void> =>
  patch(story, Clusters, name, { spec: { topology } });

let generations = 0;

const topologyChanges: Readonly<Record<string, Change>> = {
  async 'scale workers'(story, desired) {
    const next = { ...desired, workers: Math.floor(story.random.next() * 4) };
    await change(story, desired, { workers: workersOf(next) });
    return next;
  },
  async 'scale the control plane'(story, desired) {
    const controlPlanes = desired.controlPlanes === 1 ? 3 : 1;
    await change(story, desired, { controlPlane: { replicas: controlPlanes } });
    return { ...desired, controlPlanes };
  },
  async upgrade(story, desired) {
    const newer = versions.slice(versions.indexOf(desired.version as (typeof versions)[number]) + 1);
    if (newer.length === 0) return undefined;
    const version = pick(story.random, newer);
    try {
      await change(story, desired, { version });
    } catch (error) {
      // Upgrades must not overlap.
      if (!isInvalid(error)) throw error;
      tell(story, `refused: ${(error as Error).message}`);
      return undefined;
    }
    return { ...desired, version };
  },
  async 'other machines'(story, desired) {
    const flavor = desired.flavor === 'm1.medium' ? 'm1.large' : 'm1.medium';
    await change(story, desired, { variables: [{ name: 'flavor', value: flavor }] });
    if (story.random.next() < 0.5) story.system.crashSoon(20);
    return { ...desired, flavor };
  },
  async 'change the class'(story, desired) {
    await patch(story, ClusterClasses, className(desired), { spec: { patches: patchesOf(++generations) } });
    if (story.random.next() < 0.5) story.system.crashSoon(20);
    return desired;
  },
  async 'hooks that stall'(story, desired) {
    const { system, random } = story;
    for (const hook of system.hooks.names) {
      if (random.next() < 0.6) continue;
      const how = random.next() < 0.7 ? 'wait' : 'failed';
      const seconds = Math.floor(random.next() * 900);
      tell(story, `hook ${hook} does not agree for ${seconds} s (${how})`);
      system.hooks.stall(hook, system.clock.now() + seconds * 1_000, how);
    }
    if (random.next() < 0.7) return (await topologyChanges['upgrade']?.(story, desired)) ?? desired;
    return desired;
  },
  async 'change the class and think better of it'(story, desired) {
    await patch(story, ClusterClasses, className(desired), { spec: { patches: patchesOf(++generations) } });
    await story.system.pass(Math.floor(story.random.next() * 5_000));
    story.system.crashSoon(10);
    await patch(story, ClusterClasses, className(desired), { spec: { patches: patchesOf(++generations) } });
    return desired;
  },
  ...Object.fromEntries(
    ['delete a machine', 'pause for a while'].flatMap((name) => {
      const found = changes[name];
      return found ? [[name, found]] : [];
    }),
  ),
};

/** Compares state specific to clusters from a class. */
async function differs({ system }: Story, desired: ClusterSpec): Promise<string | undefined> {
  const { client } = system;
  const cluster = await client.get(Clusters, { namespace, name: desired.name });
  const reconciled = cluster.status?.conditions?.find(({ type }) => type === 'TopologyReconciled');
  if (reconciled?.status !== 'True') return `TopologyReconciled of ${desired.name}: ${reconciled?.message}`;
  const labelSelector = `cluster.x-k8s.io/cluster-name=${desired.name},topology.cluster.x-k8s.io/owned`;
  const machines = (await client.list(OpenStackMachineTemplates, { namespace, labelSelector })).items;
  if (machines.length !== 2) return `${desired.name} has ${machines.length} machine templates`;
  const other = machines.find(({ spec }) => JSON.stringify(spec).includes(`"${desired.flavor}"`) === false);
  if (other) return `template ${other.metadata.name} has another flavor`;
  const configs = (await client.list(KubeadmConfigTemplates, { namespace, labelSelector })).items;
  return configs.length === 1 ? undefined : `${desired.name} has ${configs.length} bootstrap templates`;
}

/** Templates of deleted clusters. Those of classes remain. */
async function left({ system }: Story): Promise<string[]> {
  const found: string[] = [];
  for (const resource of [OpenStackMachineTemplates, KubeadmConfigTemplates] as readonly Resource<KubeObject>[]) {
    const listed = await system.client.list(resource, { labelSelector: 'topology.cluster.x-k8s.io/owned' });
    for (const { metadata } of listed.items) found.push(`${resource.kind} ${metadata.name}`);
  }
  return found;
}

export const topologyStyle: Style = {
  manifestsOf: (desired) => topologyManifests(desired),
  changes: topologyChanges,
  // Classes are edited too, and hooks may block changes.
  isPlanned: false,
  differs,
  left,
};
