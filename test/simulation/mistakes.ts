import { OpenStackClusters, Secrets } from '../../src/api/index.ts';
import type { JsonObject } from '../../src/machinery/index.ts';
import { deleteCluster, patch, pick, type Story, tell } from './actions.ts';
import { type ClusterSpec, type Manifest, manifestsOf, namespace } from './cluster-manifests.ts';
import { by, type System } from './system.ts';

/** An error in an OpenStackCluster that prevents its creation. */
export interface Mistake {
  readonly what: string;
  /** replaces the correct fields */
  readonly spec: JsonObject;
  /** expected condition message */
  readonly said: RegExp;
}

const right: JsonObject = { name: 'cloud-config', cloudName: 'openstack' };
const credentials = (changes: JsonObject): JsonObject => ({ identityRef: { ...right, ...changes } });

export const mistakes: readonly Mistake[] = [
  {
    what: 'a Secret that does not exist',
    spec: credentials({ name: 'absent' }),
    said: /Secret default\/absent does not exist/,
  },
  { what: 'a wrong password', spec: credentials({ name: 'wrong-password' }), said: /does not accept user/ },
  { what: 'an unknown cloud', spec: credentials({ cloudName: 'elsewhere' }), said: /elsewhere/ },
  { what: 'an unknown region', spec: credentials({ region: 'Nowhere' }), said: /"Nowhere" is not one of its regions/ },
  {
    what: 'a region the catalogue does not have',
    spec: credentials({ name: 'other-region' }),
    said: /region "Elsewhere" of cloud "openstack" has no/,
  },
  { what: 'an address where nobody answers', spec: credentials({ name: 'nobody-there' }), said: /ECONNREFUSED/ },
  {
    what: 'an external network that does not exist',
    spec: { externalNetwork: { filter: { name: 'outer-space' } } },
    said: /outer-space/,
  },
  {
    what: 'a network that does not exist',
    spec: { network: { filter: { name: 'no-such-network' } }, managedSubnets: null },
    said: /no-such-network/,
  },
];

/** Creates the Secrets that some mistakes refer to. */
export async function prepareMistakes({ client, cloudsYaml }: System): Promise<void> {
  const texts = {
    'wrong-password': cloudsYaml.replaceAll(/password: .*/g, 'password: wrong'),
    'other-region': cloudsYaml.replaceAll('RegionOne', 'Elsewhere'),
    'nobody-there': cloudsYaml.replaceAll('http://cloud.test', 'http://nobody.test'),
  };
  for (const [name, text] of Object.entries(texts)) {
    const data = { 'clouds.yaml': Buffer.from(text).toString('base64') };
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data }, by);
  }
}

/** Returns the manifests of a cluster with a mistake. */
export function withMistake(manifests: readonly Manifest[], { spec }: Mistake): Manifest[] {
  return manifests.map(({ resource, object }) => {
    if (resource !== OpenStackClusters) return { resource, object };
    const merged = { ...(object as { spec?: JsonObject }).spec, ...spec };
    for (const [name, value] of Object.entries(merged)) if (value === null) delete merged[name];
    return { resource, object: { ...object, spec: merged } as typeof object };
  });
}

/** Returns the correction of a mistake as a merge patch. */
export function correctionOf(manifests: readonly Manifest[], { spec }: Mistake): JsonObject {
  const found = manifests.find(({ resource }) => resource === OpenStackClusters);
  const meant = (found?.object as { spec?: JsonObject } | undefined)?.spec ?? {};
  const patch: JsonObject = {};
  for (const name of Object.keys(spec)) {
    patch[name] = name === 'identityRef' ? { ...right, region: null } : (meant[name] ?? null);
  }
  return { spec: patch };
}

/** Creates a cluster with a mistake. The returned function corrects the mistake, or deletes the cluster. */
export async function beginWithMistake(story: Story, desired: ClusterSpec): Promise<() => Promise<void>> {
  const { system, random } = story;
  const mistake = pick(random, mistakes);
  const isCorrected = random.next() < 0.5;
  await prepareMistakes(system);
  tell(story, `the user wants ${desired.name} too, with ${mistake.what}`);
  for (const { resource, object } of withMistake(manifestsOf(desired), mistake)) {
    await system.client.create(resource, object, by);
  }
  return async () => {
    if (!isCorrected) return await deleteCluster(story, desired);
    tell(story, `the user corrects ${mistake.what} of ${desired.name}`);
    await patch(story, OpenStackClusters, desired.name, correctionOf(manifestsOf(desired), mistake));
    story.specs.push(desired);
  };
}
