import {
  type ControllerRevision,
  ControllerRevisions,
  type Pod,
  Pods,
  type PodTemplateSpec,
} from '../../../api/index.ts';
import { type Client, type Lister, objectKey } from '../../../client/index.ts';
import {
  deepEqual,
  ignoreNotFound,
  isAlreadyExists,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  labelSelectorFromObject,
  must,
} from '../../../machinery/index.ts';
import { fieldManager, lastAppliedAnnotation } from './names.ts';
import { claimObjects, controllerReference } from './ownership.ts';
import { contentHash } from './template-hash.ts';

// Template history of StatefulSets and DaemonSets, used for their Pods and for `kubectl rollout undo`.

export interface RevisionOwner extends KubeObject {
  spec: { template?: PodTemplateSpec; selector?: Parameters<typeof labelSelectorFromObject>[0] };
  status?: { collisionCount?: number };
}

/** Pods and revision history of an owner. */
export interface RevisedPods extends CurrentRevision {
  readonly pods: Pod[];
  /** oldest first, without a revision created in this reconcile */
  readonly history: ControllerRevision[];
}

/** Claims the Pods and revisions of an owner, and ensures a revision for its present template. */
export async function claimRevisedPods<T extends RevisionOwner>(
  owner: T,
  { client, pods, revisions, selects, hashLabel }: RevisedPodsClaim<T>,
): Promise<RevisedPods> {
  const claimed = await claimObjects({
    client,
    resource: Pods,
    lister: pods,
    owner,
    selects: (pod) => selects(owner, pod),
  });
  const selector = labelSelectorFromObject(owner.spec.selector);
  const history = sortRevisions(
    await claimObjects({
      client,
      resource: ControllerRevisions,
      lister: revisions,
      owner,
      selects: ({ metadata }) => selector.matches(metadata.labels ?? {}),
    }),
  );
  const settings = { client, hashLabel, collisions: owner.status?.collisionCount ?? 0 };
  return { pods: claimed, history, ...(await ensureRevision(owner, history, settings)) };
}

export interface RevisedPodsClaim<T> {
  readonly client: Client;
  readonly pods: Lister<Pod>;
  readonly revisions: Lister<ControllerRevision>;
  readonly selects: (owner: T, pod: Pod) => boolean;
  /** label that holds the hash of a revision */
  readonly hashLabel: string;
}

interface RevisionSettings {
  readonly client: Client;
  /** label that holds the hash of a revision */
  readonly hashLabel: string;
  readonly collisions: number;
}

export interface CurrentRevision {
  readonly revision: ControllerRevision;
  /** number of hash collisions so far */
  readonly collisions: number;
}

function dataOf(owner: RevisionOwner): JsonObject {
  return { spec: { template: { ...(owner.spec.template as JsonObject), $patch: 'replace' } } };
}

/** Returns the template stored in a revision. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  const spec = isJsonObject(data) ? data['spec'] : undefined;
  const template = isJsonObject(spec) ? spec['template'] : undefined;
  if (!isJsonObject(template)) return {};
  const { $patch: _directive, ...rest } = template;
  return rest as PodTemplateSpec;
}

function sameTemplate(revision: ControllerRevision, owner: RevisionOwner): boolean {
  return deepEqual(templateOf(revision), owner.spec.template ?? {});
}

export function hashOf({ metadata }: ControllerRevision, hashLabel: string): string {
  return metadata.labels?.[hashLabel] ?? '';
}

/** Sorts oldest first. */
function sortRevisions(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  return [...revisions].sort(
    (a, b) =>
      (a.revision ?? 0) - (b.revision ?? 0) ||
      compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      compareText(a.metadata.name ?? '', b.metadata.name ?? ''),
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Returns the revision of the owner's present template and creates it if needed. An older revision with the same
 * template becomes the newest again.
 */
async function ensureRevision(
  owner: RevisionOwner,
  history: readonly ControllerRevision[],
  settings: RevisionSettings,
): Promise<CurrentRevision> {
  const { client, collisions } = settings;
  const newest = history.at(-1);
  const number = (newest?.revision ?? 0) + 1;
  const known = history.findLast((revision) => sameTemplate(revision, owner));
  if (known && known === newest) return { revision: known, collisions };
  if (known) {
    const patch = { revision: number };
    return {
      revision: await client.patch(ControllerRevisions, objectKey(known), 'merge', patch, { fieldManager }),
      collisions,
    };
  }
  return await createRevision(owner, number, settings);
}

async function createRevision(
  owner: RevisionOwner,
  number: number,
  { client, hashLabel, collisions }: RevisionSettings,
): Promise<CurrentRevision> {
  const data = dataOf(owner);
  for (let tries = collisions; ; tries++) {
    const hash = contentHash(data, tries);
    const revision = newRevision(owner, { data, number, hashLabel, hash });
    try {
      return { revision: await client.create(ControllerRevisions, revision, { fieldManager }), collisions: tries };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const taken = await client.get(ControllerRevisions, objectKey(revision));
      const isOurs = taken.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
      if (isOurs && sameTemplate(taken, owner)) return { revision: taken, collisions: tries };
    }
  }
}

function newRevision(
  owner: RevisionOwner,
  { data, number, hashLabel, hash }: { data: JsonObject; number: number; hashLabel: string; hash: string },
): ControllerRevision {
  const { [lastAppliedAnnotation]: _applied, ...annotations } = owner.metadata.annotations ?? {};
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      namespace: must(owner.metadata.namespace, 'owner.metadata.namespace'),
      labels: { ...owner.spec.template?.metadata?.labels, [hashLabel]: hash },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [controllerReference(owner)],
    },
    data,
    revision: number,
  };
}

/** Deletes the oldest unused revisions beyond the history limit. */
export async function pruneRevisions(
  client: Client,
  history: readonly ControllerRevision[],
  isLive: (revision: ControllerRevision) => boolean,
  limit: number,
): Promise<void> {
  const idle = history.filter((revision) => !isLive(revision));
  for (const revision of idle.slice(0, Math.max(0, idle.length - limit))) {
    await client.delete(ControllerRevisions, objectKey(revision)).catch(ignoreNotFound);
  }
}
