// A tenant with write access to all kinds in one namespace tries to reach objects of others through every field with a
// reference. The fields are found from the schemas, so new ones are tested automatically.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clusters, ConfigMaps, Namespaces, Secrets } from '../../src/api/index.ts';
import {
  isForbidden,
  isInvalid,
  isNotFound,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  type UnstructuredObject,
} from '../../src/machinery/index.ts';
import type { Manifest } from '../simulation/cluster-manifests.ts';
import { by, createSystem, type System } from '../simulation/system.ts';
import { type Flavor, flavors, tenantNamespace, workingCluster } from './bases.ts';
import { type HostileValues, hostileObject } from './hostile-object.ts';
import { type NamedThing, namedThingsOf, schemaOf, tenantDefinitions } from './named-things.ts';

const victimNamespace = 'victim';
/** Contained in all objects of the victim and the host. Nothing readable by the tenant may contain it. */
const canary = 'c4n4ry-of-somebody-else';
/** One Gateway shared by all HostedControlPlanes. */
const sharedGateway = 'planes';
const minute = 60_000;
const hour = 60 * minute;

/** Kinds in which a namespace only grants access to others, or which nothing reads. */
const grantsOfTheWriter = new Set(['ReferenceGrant']);

let system: System;
let directory: string;
let host: Server;
let values: HostileValues;
const visits: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-tenancy-'));
  const file = join(directory, 'host-file');
  await writeFile(file, canary);
  host = createServer((request, response) => {
    visits.push(`${request.method} ${request.url}`);
    response.end(canary);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const { port } = host.address() as AddressInfo;
  values = {
    namespace: victimNamespace,
    secret: 'treasure',
    configMap: 'treasure',
    file,
    url: `http://127.0.0.1:${port}/`,
    image: `127.0.0.1:${port}/image`,
  };
  system = await createSystem({ seed: 13, hosted: true });
  for (const name of [tenantNamespace, victimNamespace]) await namespace(name);
  await copySecret('cloud-config', tenantNamespace);
  await treasure();
});

afterAll(async () => {
  await system?.stop();
  host?.close();
  await rm(directory, { recursive: true, force: true });
});

async function namespace(name: string): Promise<void> {
  await system.client.create(
    Namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as KubeObject as never,
    by,
  );
}

async function copySecret(name: string, to: string): Promise<void> {
  const { data } = await system.client.get(Secrets, { namespace: 'default', name });
  await system.client.create(
    Secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: to }, ...(data && { data }) },
    by,
  );
}

/** Creates the targets of the attack, with all keys that controllers read. */
async function treasure(): Promise<void> {
  const keys = [
    'value',
    'clouds.yaml',
    'kubeconfig',
    'token',
    'tls.crt',
    'tls.key',
    'ca.crt',
    'username',
    'password',
    'bucket',
  ];
  const metadata = { name: values.secret, namespace: victimNamespace };
  const data = Object.fromEntries(keys.map((key) => [key, Buffer.from(canary).toString('base64')]));
  await system.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data }, by);
  const text = Object.fromEntries(keys.map((key) => [key, canary]));
  await system.client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: text }, by);
  // Creates objects with the same names as the tenant's, so that a cross-namespace reference finds one.
  for (const flavor of flavors) {
    for (const { resource, object } of workingCluster(flavor, `${flavor}0`)) {
      const annotations = { canary, 'cluster.x-k8s.io/paused': 'true' };
      const copy = JSON.parse(
        JSON.stringify(object).replaceAll(`"namespace":"${tenantNamespace}"`, `"namespace":"${victimNamespace}"`),
      ) as KubeObject;
      Object.assign(copy.metadata, { annotations });
      const spec = (copy as unknown as { spec: { template?: { spec?: Record<string, unknown> } } }).spec;
      if (copy.kind === 'OpenStackMachineTemplate') Object.assign(spec.template!.spec!, { tags: [canary] });
      await system.client.create(resource, copy, by);
    }
  }
}

async function objectsOf(where: string): Promise<KubeObject[]> {
  const found: KubeObject[] = [];
  for (const resource of system.listable()) {
    if (!resource.namespaced || resource.plural === 'leases') continue;
    found.push(...(await system.client.list(resource, { namespace: where })).items);
  }
  return found;
}

/** Returns everything readable in an object, including encoded data. */
function readable(object: KubeObject): string {
  const { data } = object as unknown as { data?: Record<string, string> };
  const decoded =
    object.kind === 'Secret' ? Object.values(data ?? {}).map((text) => Buffer.from(text, 'base64').toString()) : [];
  return [JSON.stringify(object), ...decoded].join('\n');
}

const titleOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;

interface Attempt {
  readonly thing: NamedThing;
  readonly definition: ResourceDefinition;
}

const attempts: readonly Attempt[] = tenantDefinitions
  .filter(({ kind }) => !grantsOfTheWriter.has(kind))
  .flatMap((definition) => namedThingsOf(definition).map((thing) => ({ thing, definition })));

/** Builds an object of a working cluster with one hostile field, in the version that has the field. */
async function hostileVersion({ thing, definition }: Attempt, base: KubeObject): Promise<Manifest> {
  const { group, plural, namespaced, kind } = definition;
  const converted =
    base.apiVersion === `${group}/${thing.version}`
      ? base
      : ((await definition.convert!(base as UnstructuredObject, thing.version)) as KubeObject);
  const object = hostileObject(converted, thing, schemaOf(definition, thing.version)!, values);
  return { resource: { group, version: thing.version, kind, plural, namespaced } as Resource<KubeObject>, object };
}

const mostTogether = 8;
/** A dangling reference may stop a controller before it reads the rest. */
const stops: ReadonlySet<string> = new Set(['namespace', 'secret', 'configMap']);

/** Several fields of one object are tested at once, if none of them hides the others. */
function areTriedTogether(first: Attempt, next: Attempt): boolean {
  if (first.thing.version !== next.thing.version) return false;
  const isActedOn = !first.thing.kind.endsWith('ControlPlaneTemplate') && !first.thing.kind.endsWith('ClusterTemplate');
  return !isActedOn || (!stops.has(first.thing.what) && !stops.has(next.thing.what));
}

async function isAccepted({ resource, object }: Manifest): Promise<boolean> {
  try {
    await system.client.create(resource, object, { ...by, dryRun: true });
    return true;
  } catch (error) {
    if (isInvalid(error) || isForbidden(error)) return false;
    throw error;
  }
}

describe('every kind a tenant may write', () => {
  it('has a test object whose fields are tried', () => {
    const tried = new Set(
      flavors.flatMap((flavor) =>
        workingCluster(flavor, 'x').map(({ resource }) => `${resource.group} ${resource.kind}`),
      ),
    );
    const missing = attempts
      .map(({ definition: { group, kind } }) => `${group} ${kind}`)
      .filter((title) => !tried.has(title));
    expect([...new Set(missing)]).toEqual([]);
  });
});

describe.each(flavors)('a tenant with clusters of %s', (flavor: Flavor) => {
  it('reaches nothing of others by any field', { timeout: 20 * minute }, async () => {
    const base = workingCluster(flavor, `${flavor}0`);
    for (const { resource, object } of base) await ensure(resource, object);
    const isAvailable = (): Promise<boolean> => available(`${flavor}0`);
    expect(await system.until(isAvailable, hour), 'the cluster all attempts start from works').toBe(true);

    // Helm releases are named by id, independent of the cluster, so the hostile ones replace the originals.
    await removeObjects(base.filter(({ object }) => !isOfCluster(object, `${flavor}0`)));

    const before = await objectsOf(victimNamespace);
    const open = new Map(base.map(({ resource }) => [kindKey(resource), attemptsOn(resource)]));
    const accepted: string[] = [];
    const refused: string[] = [];
    for (let round = 1; [...open.values()].some(({ length }) => length > 0); round++) {
      const name = `${flavor}${round}`;
      for (const { resource, object } of workingCluster(flavor, name)) {
        if (object.metadata.name === sharedGateway) continue;
        await ensure(...(await hostileOrPlain(open.get(kindKey(resource)) ?? [], { resource, object })));
      }
      await system.pass(4 * minute);
      await expectNothingReached(name);
      await remove(flavor, name);
    }
    expect(accepted.length, `accepted; refused were ${refused.join(', ')}`).toBeGreaterThan(10);
    expect((await objectsOf(victimNamespace)).map(withoutRevision)).toEqual(before.map(withoutRevision));

    /** Builds the object with the next attempts that the API accepts. Refused ones are done. */
    async function hostileOrPlain(left: Attempt[], plain: Manifest): Promise<[Resource<KubeObject>, KubeObject]> {
      let hostile = plain;
      const taken: Attempt[] = [];
      while (left.length > 0) {
        const [attempt] = left as [Attempt];
        if (taken.length > 0 && !areTriedTogether(taken[0]!, attempt)) break;
        const next = await hostileVersion(attempt, taken.length > 0 ? hostile.object : plain.object);
        const isTaken = await isAccepted(next);
        // Attempts in conflict with others get a turn of their own.
        if (!isTaken && taken.length > 0) break;
        left.shift();
        (isTaken ? accepted : refused).push(`${attempt.thing.kind} ${attempt.thing.path.join('.')}`);
        if (!isTaken) continue;
        hostile = next;
        taken.push(attempt);
        if (taken.length === mostTogether) break;
      }
      return [hostile.resource, hostile.object];
    }
  });
});

const nameOf = ({ name = '' }: { name?: string }): string => name;

const kindKey = ({ group, kind }: Resource): string => `${group} ${kind}`;

const attemptsOn = (resource: Resource): Attempt[] =>
  attempts
    .filter(({ definition: { group, kind } }) => `${group} ${kind}` === kindKey(resource))
    .sort((a, b) => Number(stops.has(a.thing.what)) - Number(stops.has(b.thing.what)));

const withoutRevision = ({
  metadata: { resourceVersion: _, managedFields: __, ...metadata },
  ...rest
}: KubeObject): object => ({
  ...rest,
  metadata,
});

async function ensure(resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
  if (!(await find(resource, nameOf(object.metadata)))) await system.client.create(resource, object, by);
}

async function find(resource: Resource<KubeObject>, name: string): Promise<KubeObject | undefined> {
  return system.client.get(resource, { namespace: tenantNamespace, name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

async function available(name: string): Promise<boolean> {
  const cluster = await system.client.get(Clusters, { namespace: tenantNamespace, name });
  const conditions = (cluster.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions;
  return conditions?.some(({ type, status }) => type === 'Available' && status === 'True') ?? false;
}

async function expectNothingReached(name: string): Promise<void> {
  const leaks = (await objectsOf(tenantNamespace)).filter((object) => readable(object).includes(canary)).map(titleOf);
  expect(leaks, `what the tenant can read after ${name}`).toEqual([]);
  expect(await readdir(directory), 'files of the host').toEqual(['host-file']);
  expect(await readFile(values.file, 'utf8')).toBe(canary);
  expect(visits, 'requests to addresses of the host').toEqual([]);
  const servers = system.rows.of('servers').filter((server) => {
    const userData = Buffer.from(server.userData, 'base64').toString();
    return `${JSON.stringify(server)}${userData}`.includes(canary);
  });
  expect(
    servers.map((server) => server.name),
    'servers',
  ).toEqual([]);
}

const isOfCluster = ({ metadata: { name = '' } }: KubeObject, cluster: string): boolean =>
  name === sharedGateway || name === cluster || name.startsWith(`${cluster}-`) || name.endsWith(`-${cluster}`);

async function removeObjects(manifests: readonly Manifest[]): Promise<void> {
  for (const { resource, object } of manifests) {
    await system.client
      .delete(resource, { namespace: tenantNamespace, name: nameOf(object.metadata) })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }
  const exists = async ({ resource, object }: Manifest): Promise<boolean> =>
    (await find(resource, nameOf(object.metadata))) !== undefined;
  const isGone = await system.until(async () => !(await Promise.all(manifests.map(exists))).includes(true), 2 * hour);
  expect(isGone, `${manifests.map(({ object }) => titleOf(object)).join(', ')} are gone`).toBe(true);
}

/** Deletes a cluster and waits until it is gone, including hostile objects. */
async function remove(flavor: Flavor, name: string): Promise<void> {
  await removeObjects(workingCluster(flavor, name).filter(({ object }) => object.metadata.name !== sharedGateway));
  let left: string[] = [];
  const isGone = await system.until(async () => {
    left = (await objectsOf(tenantNamespace))
      .filter(({ metadata }) => nameOf(metadata).startsWith(`${name}-`) || metadata.name === name)
      .filter(({ kind }) => !['Event', 'Secret', 'ConfigMap', 'PersistentVolumeClaim'].includes(kind ?? ''))
      .map(titleOf);
    return left.length === 0;
  }, 2 * hour);
  expect(isGone, `left of ${name}: ${left.join(', ')}`).toBe(true);
}
