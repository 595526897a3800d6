import { type LatticeCluster, latticeNamespace, latticeSettings, MachineDeployments } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import type { Resource, UnstructuredObject } from '../../machinery/index.ts';
import type { CloudConfig, OpenStack } from '../../openstack/index.ts';
import { cloudTexts, isOwnedBy } from '../shared/index.ts';
import { readCredentials } from './cloud/credentials.ts';
import { checkPrerequisites } from './cloud/prerequisites.ts';
import { expand } from './expand/expand.ts';
import { isElsewhere } from './self/stage.ts';

/** Result of a dry run of a LatticeCluster. */
export interface LatticePreview {
  /** in apply order, without add-ons */
  readonly objects: readonly { readonly resource: Resource<UnstructuredObject>; readonly object: UnstructuredObject }[];
  /** MachineDeployments of removed pools */
  readonly removed: readonly { readonly namespace: string; readonly name: string }[];
  /** what the cloud lacks, one sentence each, with the remedy */
  readonly missing: readonly string[];
  /** flavors below the recommended size */
  readonly small: readonly string[];
  /** why nothing is created although nothing is missing */
  readonly resting?: string;
}

export interface PreviewOptions {
  /** reads the credentials Secret and existing objects */
  readonly client: Client;
  readonly signal: AbortSignal;
  connect(config: CloudConfig): OpenStack;
  /** replaces the cloud of the Secret, which is not read then */
  readonly instead?: OpenStack;
}

const nothing = { objects: [], removed: [], missing: [], small: [] };

/** Checks and expands like the controller, without writing. Throws if credentials are unusable. */
export async function previewLattice(
  cluster: LatticeCluster,
  { client, signal, connect, instead }: PreviewOptions,
): Promise<LatticePreview> {
  if (isElsewhere(cluster)) {
    return { ...nothing, resting: 'the cluster manages itself: the object inside of it is the one to edit' };
  }
  const settings = latticeSettings(cluster);
  if (settings === undefined) {
    return { ...nothing, resting: 'only spec.provider.config.openstack makes a cluster' };
  }
  const { config, texts, data } = instead
    ? { config: instead.config, texts: cloudTexts(instead.config), data: {} }
    : await readCredentials({ client, signal }, settings);
  const { facts, missing, small } = await checkPrerequisites(instead ?? connect(config), settings, signal);
  if (!facts) return { ...nothing, missing, small };
  const objects = expand(cluster, settings, { cloud: facts, credentials: data, texts, addons: [] });
  const named = new Set(objects.map(({ object }) => `${object.kind} ${object.metadata.name}`));
  const namespace = latticeNamespace(cluster.metadata.name ?? '');
  const { items } = await client.list(MachineDeployments, { namespace, signal });
  const removed = items
    .filter((live) => isOwnedBy(live, cluster) && !named.has(`${MachineDeployments.kind} ${live.metadata.name}`))
    .map(({ metadata: { name = '' } }) => ({ namespace, name }));
  return { objects, removed, missing, small };
}
