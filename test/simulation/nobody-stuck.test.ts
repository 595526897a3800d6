import { afterEach, describe, expect, it } from 'vitest';
import {
  Clusters,
  Events,
  KubeadmControlPlanes,
  MachineDeployments,
  Machines,
  OpenStackClusters,
  OpenStackFloatingIPPools,
  OpenStackMachines,
  OpenStackServers,
} from '../../src/api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../src/machinery/index.ts';
import { type ClusterSpec, type Manifest, manifestsOf, namespace } from './cluster-manifests.ts';
import { hostedKinds, hostedManifests, planeKinds } from './hosted-manifests.ts';
import { checkNothingLeft, foreignThings } from './invariants.ts';
import { correctionOf, type Mistake, mistakes, prepareMistakes, withMistake } from './mistakes.ts';
import { by, createSystem, type System } from './system.ts';

const hour = 3_600_000;
let system: System;
afterEach(() => system.stop());

const desiredFor = (index: number): ClusterSpec => ({
  name: `c${index}`,
  index,
  endpoint: index % 2 === 0 ? 'floating-ip' : 'load-balancer',
  controlPlanes: 1,
  workers: 1,
  version: 'v1.33.6',
  flavor: 'm1.medium',
  bootFromVolume: false,
  healthCheck: false,
});

async function apply(manifests: readonly Manifest[]): Promise<void> {
  for (const { resource, object } of manifests) {
    await system.client.create(resource, object, by).catch((error: { reason?: string }) => {
      if (error.reason !== 'AlreadyExists') throw error;
    });
  }
}

type Conditions = { type: string; status: string; reason?: string; message?: string }[];
const conditionsOf = (object: KubeObject): Conditions =>
  (object as { status?: { conditions?: Conditions } }).status?.conditions ?? [];

/** Returns all failed conditions of an object. */
async function complaintsOf(resource: Resource<KubeObject>, name: string): Promise<string> {
  const object = await system.client.get(resource, { namespace, name });
  return conditionsOf(object)
    .filter(({ status }) => status === 'False')
    .map(({ message }) => message ?? '')
    .join('\n');
}

async function until(what: string, condition: () => Promise<boolean>, limitMs = hour): Promise<void> {
  let events = 0;
  const reached = await system.until(async () => events++ % 10 === 0 && (await condition()), limitMs);
  expect(reached || (await condition()), what).toBe(true);
}

/** Waits until an object reports a mistake. */
async function untilSaid(resource: Resource<KubeObject>, name: string, { said }: Mistake): Promise<void> {
  let events = 0;
  await system.until(async () => events++ % 10 === 0 && said.test(await complaintsOf(resource, name)), hour);
  expect(await complaintsOf(resource, name)).toMatch(said);
}

const kinds: readonly Resource<KubeObject>[] = [
  Clusters,
  OpenStackClusters,
  KubeadmControlPlanes,
  MachineDeployments,
  Machines,
  OpenStackMachines,
  OpenStackServers,
  ...hostedKinds.map((kind) => planeKinds[kind].resource),
];

async function untilGone(): Promise<void> {
  const left = async (): Promise<string[]> => {
    const names: string[] = [];
    for (const kind of kinds) {
      for (const { metadata } of (await system.client.list(kind, {})).items)
        names.push(`${kind.kind} ${metadata.name}`);
    }
    return names;
  };
  await until('everything is gone', async () => (await left()).length === 0, hour).catch(async () =>
    expect(await left()).toEqual([]),
  );
}

describe('an object that never made anything in the cloud', () => {
  it('can be deleted, with a whole cluster around it', async () => {
    system = await createSystem({ seed: 1 });
    const before = foreignThings(system);
    await prepareMistakes(system);
    const { mutations } = system.counts;
    for (const [index, mistake] of mistakes.entries())
      await apply(withMistake(manifestsOf(desiredFor(index)), mistake));
    for (const [index, mistake] of mistakes.entries()) await untilSaid(OpenStackClusters, `c${index}`, mistake);
    expect(system.counts.mutations).toBe(mutations);
    const isWarned = async (index: number, said: RegExp): Promise<boolean> =>
      (await system.client.list(Events, { namespace })).items.some(
        ({ type, regarding, note }) =>
          type === 'Warning' &&
          regarding?.kind === 'OpenStackCluster' &&
          regarding.name === `c${index}` &&
          said.test(note ?? ''),
      );
    for (const [index, { what, said }] of mistakes.entries()) {
      await until(`an event tells of ${what}`, () => isWarned(index, said));
    }
    for (const index of mistakes.keys()) await system.client.delete(Clusters, { namespace, name: `c${index}` });
    await untilGone();
    checkNothingLeft(system, before);
  });

  it('can be deleted with its hosted control plane', async () => {
    system = await createSystem({ seed: 2, hosted: true });
    const before = foreignThings(system);
    await prepareMistakes(system);
    const cases = mistakes.slice(0, hostedKinds.length);
    const manifests = (index: number): Manifest[] =>
      hostedManifests({
        name: `c${index}`,
        kind: hostedKinds[index]!,
        replicas: 1,
        workers: 1,
        version: 'v1.33.6',
        workerVersion: 'v1.33.6',
        deletesVolumes: true,
      });
    for (const [index, mistake] of cases.entries()) await apply(withMistake(manifests(index), mistake));
    for (const [index, mistake] of cases.entries()) await untilSaid(OpenStackClusters, `c${index}`, mistake);
    for (const index of cases.keys()) await system.client.delete(Clusters, { namespace, name: `c${index}` });
    await untilGone();
    checkNothingLeft(system, before);
  });

  it('continues as soon as it is corrected', async () => {
    system = await createSystem({ seed: 3 });
    await prepareMistakes(system);
    const manifests = (index: number): Manifest[] => manifestsOf({ ...desiredFor(index), workers: 0 });
    for (const [index, mistake] of mistakes.entries()) await apply(withMistake(manifests(index), mistake));
    for (const [index, mistake] of mistakes.entries()) await untilSaid(OpenStackClusters, `c${index}`, mistake);
    for (const [index, mistake] of mistakes.entries()) {
      const patch = correctionOf(manifests(index), mistake);
      await system.client.patch(OpenStackClusters, { namespace, name: `c${index}` }, 'merge', patch, by);
    }
    for (const [index, { what }] of mistakes.entries()) {
      await until(`${what} is corrected`, async () => {
        const cluster = await system.client.get(Clusters, { namespace, name: `c${index}` });
        return conditionsOf(cluster).some(({ type, status }) => type === 'Available' && status === 'True');
      });
    }
  });

  it('can be deleted as a machine, server or pool too', async () => {
    system = await createSystem({ seed: 4 });
    const before = foreignThings(system);
    await prepareMistakes(system);
    const wrong = mistakes.filter(({ spec }) => spec['identityRef'] !== undefined);
    await apply(manifestsOf({ ...desiredFor(0), workers: 0 }));
    const provisioned = async (): Promise<boolean> => {
      const { status } = await system.client.get(OpenStackClusters, { namespace, name: 'c0' });
      return status?.initialization?.provisioned === true;
    };
    await until('the cluster is there', provisioned);
    const made: [Resource<KubeObject>, string][] = [];
    const make = async (resource: Resource<KubeObject>, name: string, spec: JsonObject): Promise<void> => {
      const apiVersion = `${resource.group}/${resource.version}`;
      const object = { apiVersion, kind: resource.kind, metadata: { name, namespace }, spec } as KubeObject;
      await system.client.create(resource, object, by);
      made.push([resource, name]);
    };
    for (const [index, { spec }] of wrong.entries()) {
      const identityRef = spec['identityRef'] as JsonObject;
      const ports = [{ network: { filter: { name: 'k8s-clusterapi-cluster-default-c0' } } }];
      const [image, flavor] = [{ filter: { name: 'ubuntu-capi-image-v1.33.6' } }, 'm1.medium'];
      await make(OpenStackServers, `s${index}`, { identityRef, image, flavor, sshKeyName: 'demo', ports });
      await make(OpenStackFloatingIPPools, `p${index}`, { identityRef, reclaimPolicy: 'Delete' });
    }
    for (const [index, mistake] of wrong.entries()) await apply(workerWith(mistake, index));
    for (const [resource, name] of made) await untilSaid(resource, name, wrong[Number(name.slice(1))]!);
    for (const [index, mistake] of wrong.entries()) await untilSaid(OpenStackMachines, `w${index}`, mistake);
    for (const [resource, name] of made) await system.client.delete(resource, { namespace, name });
    for (const index of wrong.keys()) await system.client.delete(Machines, { namespace, name: `w${index}` });
    const isGone = async (resource: Resource<KubeObject>, prefix: RegExp): Promise<boolean> =>
      !(await system.client.list(resource, {})).items.some(({ metadata }) => prefix.test(metadata.name ?? ''));
    await until('servers, pools and machines are gone', async () => {
      const all = [OpenStackServers, OpenStackFloatingIPPools, OpenStackMachines, Machines];
      for (const resource of all) if (!(await isGone(resource as Resource<KubeObject>, /^[spw]\d$/))) return false;
      return true;
    });
    await system.client.delete(Clusters, { namespace, name: 'c0' });
    await untilGone();
    checkNothingLeft(system, before);
  });
});

/** Builds a Machine whose OpenStackMachine has a mistake. */
function workerWith({ spec }: Mistake, index: number): Manifest[] {
  const name = `w${index}`;
  const labels = { 'cluster.x-k8s.io/cluster-name': 'c0' };
  return [
    {
      resource: OpenStackMachines,
      object: {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
        kind: 'OpenStackMachine',
        metadata: { name, namespace, labels },
        spec: {
          ...spec,
          flavor: { filter: { name: 'm1.medium' } },
          image: { filter: { name: 'ubuntu-capi-image-v1.33.6' } },
        },
      } as KubeObject,
    },
    {
      resource: Machines,
      object: {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Machine',
        metadata: { name, namespace, labels },
        spec: {
          clusterName: 'c0',
          version: 'v1.33.6',
          bootstrap: { dataSecretName: 'user-data' },
          infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachine', name },
        },
      } as KubeObject,
    },
  ];
}
