import {
  type Cluster,
  Clusters,
  type ContractReference,
  KubeadmControlPlanes,
  type Machine,
  MachineDeployments,
  MachineSets,
  Machines,
  OpenStackClusters,
  OpenStackMachines,
  OpenStackServers,
  RKE2ControlPlanes,
  type Secret,
  Secrets,
  skipPreflightChecksAnnotation,
} from '../../api/index.ts';
import { type ObjectKey, objectKey } from '../../client/index.ts';
import {
  type createLookupCache,
  createRehearsedObjects,
  isHostedControlPlane,
  kubeadmProvider,
  type PlaneRehearsal,
  type RehearsedClouds,
  type RehearsedObjects,
  rehearseInfrastructure,
  rehearsePlane,
  rehearseWorkers,
  rke2Provider,
} from '../../controllers/index.ts';
import {
  asJson,
  asUnstructured,
  errorMessage,
  type JsonObject,
  type KubeObject,
  type Resource,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { CloudChange, RehearsedCloud } from '../../openstack/index.ts';

export interface MadeChange {
  readonly change: CloudChange;
  readonly cloud: RehearsedCloud;
  /** `MachineDeployment default/basic-md-0` */
  readonly object: string;
  /** the Machine, if any */
  readonly machine: Machine | undefined;
}

export interface MachineChange {
  readonly action: 'create' | 'delete';
  readonly object: string;
  readonly machine: Machine;
}

export interface ClusterRehearsalOptions {
  readonly key: { readonly namespace: string; readonly name: string };
  readonly clouds: RehearsedClouds;
  readonly lookups: ReturnType<typeof createLookupCache>;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** One cluster in memory with its infrastructure controllers. */
export interface ClusterRehearsal {
  readonly objects: RehearsedObjects;
  readonly changes: readonly MadeChange[];
  readonly machines: readonly MachineChange[];
  /** reasons why machines are outdated, keyed by owner such as `KubeadmControlPlane default/basic` */
  readonly outdated: ReadonlyMap<string, ReadonlySet<string>>;
  /** obstacles of the controllers, keyed by object */
  readonly obstacles: ReadonlyMap<string, string>;
  /** runs the controllers until none has work left */
  settle(): Promise<void>;
}

/** Each round makes progress on every machine, so reaching this limit is a bug. */
const mostRounds = 2_000;
/** Some controllers check twice with a pause before they treat a resource as deleted. */
const secondLookMs = 120_000;
const by = { fieldManager: 'plan' };
/** Placeholder for user data of machines that do not exist yet. */
const userDataName = 'user-data-to-come';
/** Placeholder for the endpoint that a control plane in Pods will provide. */
const hostedEndpoint = { host: '198.19.0.1', port: 6443 };

export const describeObject = ({ kind, metadata }: { kind: string; metadata: KubeObject['metadata'] }): string =>
  `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;

export function createClusterRehearsal(options: ClusterRehearsalOptions): ClusterRehearsal {
  return new Rehearsal(options);
}

class Rehearsal implements ClusterRehearsal {
  readonly objects: RehearsedObjects;
  readonly changes: MadeChange[] = [];
  readonly machines: MachineChange[] = [];
  readonly outdated = new Map<string, Set<string>>();
  readonly obstacles = new Map<string, string>();
  readonly #options: ClusterRehearsalOptions;
  readonly #infrastructure: ReturnType<typeof rehearseInfrastructure>;
  readonly #workers: ReturnType<typeof rehearseWorkers>;
  readonly #planes: ReadonlyMap<string, { resource: Resource; rehearsal: PlaneRehearsal }>;
  /** resource versions of machine objects that need no work */
  readonly #settled = new Map<string, string>();

  constructor(options: ClusterRehearsalOptions) {
    const { nowMs, signal, clouds, lookups } = options;
    this.#options = options;
    this.objects = createRehearsedObjects({ nowMs, signal });
    this.#infrastructure = rehearseInfrastructure({
      objects: this.objects,
      lookups,
      access: (identity, namespace) => clouds.access(this.objects, identity, namespace),
    });
    this.#workers = rehearseWorkers(this.objects);
    this.#planes = new Map([
      [
        KubeadmControlPlanes.kind,
        { resource: KubeadmControlPlanes, rehearsal: rehearsePlane(kubeadmProvider, this.objects) },
      ],
      [RKE2ControlPlanes.kind, { resource: RKE2ControlPlanes, rehearsal: rehearsePlane(rke2Provider, this.objects) }],
    ]);
  }

  async settle(): Promise<void> {
    this.obstacles.clear();
    this.#settled.clear();
    await this.#readWhatServersAre();
    await this.#untilQuiet();
    if (this.obstacles.size === 0 && !this.#isWaiting()) return;
    await this.objects.clock.advance(secondLookMs);
    this.#settled.clear();
    await this.#untilQuiet();
  }

  async #untilQuiet(): Promise<void> {
    for (let round = 0; round < mostRounds; round++) {
      this.#options.signal.throwIfAborted();
      const before = this.#progress();
      await this.#round();
      if (this.#progress() === before) return;
    }
    throw new Error(
      `the plan of cluster ${this.#options.key.namespace}/${this.#options.key.name} does not come to an end`,
    );
  }

  #progress(): string {
    return `${this.objects.client.revision} ${this.changes.length}`;
  }

  /** Reads the servers first, because controllers treat a server missing in the list as deleted. */
  async #readWhatServersAre(): Promise<void> {
    for (const { spec, status, metadata } of this.objects.list(OpenStackServers)) {
      if (status?.instanceID === undefined) continue;
      try {
        const { observer } = await this.#options.clouds.access(
          this.objects,
          spec.identityRef,
          metadata.namespace ?? '',
        );
        await observer.refresh('server');
      } catch {
        // The controllers report problems with the credentials.
      }
    }
  }

  #isWaiting(): boolean {
    return this.objects
      .list(OpenStackServers)
      .some(({ status }) => status?.instanceID !== undefined && status.ready !== true);
  }

  async #round(): Promise<void> {
    const { objects } = this;
    const cluster = objects.get(Clusters, this.#options.key);
    if (cluster) await this.#cluster(cluster);
    for (const deployment of objects.list(MachineDeployments)) {
      await this.#attempt(describeObject(deployment), () => this.#workers.deployment(objectKey(deployment)));
    }
    for (const set of objects.list(MachineSets)) {
      await this.#machinesOf(describeObject(set), () => this.#workers.set(objectKey(set)));
    }
    for (const machine of objects.list(Machines)) await this.#machine(machine);
    // Bastions, and servers without a machine.
    for (const server of objects.list(OpenStackServers)) {
      if (objects.get(OpenStackMachines, objectKey(server))) continue;
      const owner = server.metadata.ownerReferences?.[0];
      const object = owner ? `${owner.kind} ${server.metadata.namespace}/${owner.name}` : describeObject(server);
      await this.#record(object, undefined, () => this.#infrastructure.server(objectKey(server)));
    }
  }

  /** Does the part of the Cluster controller that concerns infrastructure and control plane. */
  async #cluster(cluster: Cluster): Promise<void> {
    const { objects } = this;
    const { infrastructureRef, controlPlaneRef } = cluster.spec;
    const { namespace = '' } = cluster.metadata;
    await this.#own(infrastructureRef, cluster, OpenStackClusters);
    if (isHostedControlPlane(controlPlaneRef) && !cluster.spec.controlPlaneEndpoint?.host) {
      await this.#patch(Clusters, cluster, { spec: { controlPlaneEndpoint: hostedEndpoint } });
    }
    const key = { namespace, name: infrastructureRef?.name ?? '' };
    const infrastructure = infrastructureRef && objects.get(OpenStackClusters, key);
    if (infrastructure) {
      await this.#record(describeObject(infrastructure), undefined, () => this.#infrastructure.cluster(key));
      const { failureDomains = [] } = objects.get(OpenStackClusters, key)?.status ?? {};
      await this.#patch(Clusters, cluster, { status: { failureDomains: asJson(failureDomains) } });
    }
    const plane = controlPlaneRef && this.#planes.get(controlPlaneRef.kind);
    if (!plane) return;
    await this.#own(controlPlaneRef, cluster, plane.resource);
    const object = `${controlPlaneRef.kind} ${namespace}/${controlPlaneRef.name}`;
    await this.#machinesOf(object, async () => {
      const { outdated } = await plane.rehearsal.step({ namespace, name: controlPlaneRef.name });
      for (const reasons of outdated.values()) this.#noteOutdated(object, reasons);
    });
  }

  #noteOutdated(object: string, reasons: readonly string[]): void {
    const known = this.outdated.get(object) ?? new Set<string>();
    for (const reason of reasons) known.add(reason);
    this.outdated.set(object, known);
  }

  async #own(reference: ContractReference | undefined, cluster: Cluster, resource: Resource): Promise<void> {
    const { namespace = '', name = '', uid = '' } = cluster.metadata;
    const object = reference && this.objects.get(resource, { namespace, name: reference.name });
    if (!object || object.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return;
    const owner = { apiVersion: cluster.apiVersion, kind: Clusters.kind, name, uid, controller: true };
    await this.#patch(resource, object, {
      metadata: { ownerReferences: [...asJson(object.metadata.ownerReferences ?? []), owner] },
    });
  }

  /** Does the part of the Machine and bootstrap controllers that servers wait for. */
  async #machine(machine: Machine): Promise<void> {
    const { objects } = this;
    const { namespace = '', name = '' } = machine.metadata;
    const id = `${namespace}/${name}`;
    const version = (): string =>
      [
        objects.get(Machines, { namespace, name }),
        objects.get(OpenStackMachines, infrastructureKey),
        objects.get(OpenStackServers, infrastructureKey),
      ]
        .map((object) => object?.metadata.resourceVersion ?? '')
        .join(' ');
    const { infrastructureRef } = machine.spec;
    const infrastructureKey = { namespace, name: infrastructureRef.name };
    if (this.#settled.get(id) === version()) return;
    if (infrastructureRef.kind !== OpenStackMachines.kind) {
      await this.#joins(machine);
      return;
    }
    if (machine.metadata.deletionTimestamp !== undefined) await this.#leave(machine, infrastructureKey);
    else await this.#come(machine, infrastructureKey);
    // Addresses move among control plane machines, so one that has not joined, or is being deleted, waits for others.
    const isWorker = machine.metadata.labels?.['cluster.x-k8s.io/control-plane'] === undefined;
    const now = objects.get(Machines, { namespace, name });
    const stays = now?.metadata.deletionTimestamp === undefined && now?.status?.nodeRef !== undefined;
    if (isWorker && stays) this.#settled.set(id, version());
  }

  async #come(machine: Machine, key: ObjectKey): Promise<void> {
    if (machine.spec.bootstrap.dataSecretName === undefined) {
      await this.#ensureUserData(machine.metadata.namespace ?? '');
      await this.#patch(Machines, machine, { spec: { bootstrap: { dataSecretName: userDataName } } });
    }
    const infrastructure = this.objects.get(OpenStackMachines, key);
    if (!infrastructure) return;
    const { uid = '', name = '' } = machine.metadata;
    if (!infrastructure.metadata.ownerReferences?.some((owner) => owner.uid === uid)) {
      const owner = { apiVersion: machine.apiVersion, kind: Machines.kind, name, uid };
      await this.#patch(OpenStackMachines, infrastructure, {
        metadata: { ownerReferences: [...asJson(infrastructure.metadata.ownerReferences ?? []), owner] },
      });
    }
    const object = ownerOf(machine);
    await this.#record(object, machine, () => this.#infrastructure.machine(key));
    if (this.objects.get(OpenStackServers, key)) {
      await this.#record(object, machine, () => this.#infrastructure.server(key));
      await this.#record(object, machine, () => this.#infrastructure.machine(key));
    }
    if (this.objects.get(OpenStackMachines, key)?.status?.initialization?.provisioned === true) {
      await this.#joins(machine);
    }
  }

  async #leave(machine: Machine, key: ObjectKey): Promise<void> {
    const infrastructure = this.objects.get(OpenStackMachines, key);
    const object = ownerOf(machine);
    if (infrastructure) {
      if (infrastructure.metadata.deletionTimestamp === undefined)
        await this.objects.client.delete(OpenStackMachines, key);
      await this.#record(object, machine, () => this.#infrastructure.machine(key));
      if (this.objects.get(OpenStackServers, key)) {
        await this.#record(object, machine, () => this.#infrastructure.server(key));
      }
      return;
    }
    await this.#patch(Machines, machine, { metadata: { finalizers: null } });
  }

  /** Marks a new machine as joined and healthy. */
  async #joins(machine: Machine): Promise<void> {
    if (machine.status?.nodeRef !== undefined) return;
    const conditions = ['Available', 'Ready', 'UpToDate', 'NodeReady', 'NodeHealthy'].map((type) => ({
      type,
      status: 'True',
      reason: type,
      message: '',
      lastTransitionTime: new Date(this.objects.clock.now()).toISOString(),
    }));
    await this.#patch(Machines, machine, { status: { nodeRef: { name: machine.metadata.name ?? '' }, conditions } });
  }

  async #ensureUserData(namespace: string): Promise<void> {
    if (this.objects.get(Secrets, { namespace, name: userDataName })) return;
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: userDataName, namespace },
      data: { value: '' },
    };
    this.objects.client.seed(Secrets, secret);
  }

  /** Patches spec and metadata, or the status; skips patches without effect. */
  async #patch(resource: Resource, object: KubeObject, body: JsonObject): Promise<void> {
    const subresource = 'status' in body ? { subresource: 'status' } : {};
    await this.objects.client.patch(resource, objectKey(object), 'merge', body, { ...by, ...subresource });
  }

  /** Runs a controller that creates or deletes Machines and records them. */
  async #machinesOf(object: string, work: () => Promise<void>): Promise<void> {
    const before = new Map(this.#living().map((machine) => [machine.metadata.uid, machine]));
    await this.#attempt(object, work);
    const after = new Map(this.#living().map((machine) => [machine.metadata.uid, machine]));
    for (const [uid, machine] of after) {
      if (!before.has(uid)) this.machines.push({ action: 'create', object: ownerOf(machine), machine });
    }
    for (const [uid, machine] of before) {
      if (!after.has(uid)) this.machines.push({ action: 'delete', object: ownerOf(machine), machine });
    }
  }

  #living(): Machine[] {
    return this.objects.list(Machines).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Runs a controller and records its changes in the clouds. */
  async #record(object: string, machine: Machine | undefined, work: () => Promise<string | undefined>): Promise<void> {
    const seen = new Map(this.#options.clouds.used.map((cloud) => [cloud, cloud.changes.length]));
    await this.#attempt(machine ? `${object} ${machine.metadata.name}` : object, work);
    for (const cloud of this.#options.clouds.used) {
      for (const change of cloud.changes.slice(seen.get(cloud) ?? 0)) {
        this.changes.push({ change, cloud, object, machine });
      }
    }
  }

  async #attempt(object: string, work: () => Promise<unknown>): Promise<void> {
    try {
      const obstacle = await work();
      if (typeof obstacle === 'string') this.obstacles.set(object, obstacle);
      else this.obstacles.delete(object);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      this.obstacles.set(object, errorMessage(error));
    }
  }
}

/** Names the MachineDeployment instead of its MachineSet, because users know that. */
function ownerOf({ kind = Machines.kind, metadata }: Machine): string {
  const { namespace = '', labels = {}, ownerReferences = [] } = metadata;
  const deployment = labels['cluster.x-k8s.io/deployment-name'];
  if (deployment !== undefined) return `${MachineDeployments.kind} ${namespace}/${deployment}`;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  return owner ? `${owner.kind} ${namespace}/${owner.name}` : describeObject({ kind, metadata });
}

/** MachineSets wait for a running control plane, and a rehearsal has none. */
export function withoutPreflightChecks(object: UnstructuredObject): UnstructuredObject {
  if (object.kind !== MachineDeployments.kind && object.kind !== MachineSets.kind) return object;
  const annotations = { ...object.metadata.annotations, [skipPreflightChecksAnnotation]: 'All' };
  return asUnstructured({ ...object, metadata: { ...object.metadata, annotations } });
}
