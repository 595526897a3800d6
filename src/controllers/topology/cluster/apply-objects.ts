import {
  clusterNameLabel,
  conversionDataAnnotation,
  topologyDryRunAnnotation,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import { formatKey, type ObjectKey, objectKey } from '../../../client/index.ts';
import {
  ApiStatusError,
  deepEqual,
  errorMessage,
  isInvalid,
  isNotFound,
  jsonText,
  type KubeObject,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { type Follower, isDeleting, isOwnedBy, shows } from '../../shared/index.ts';
import { topologyManager } from '../common.ts';
import { prefixedName, stableSuffix } from '../desired/names.ts';
import type { DesiredTemplate } from '../desired/types.ts';

type Io = Pick<ReconcileContext, 'client' | 'signal'>;

/** A desired object with its live counterpart. */
export interface Change {
  readonly resource: Resource<UnstructuredObject>;
  readonly desired: UnstructuredObject;
  readonly live: UnstructuredObject | undefined;
}

/** An object with this name exists that the topology did not create. */
export class ForeignObjectError extends Error {
  constructor({ kind, metadata }: KubeObject) {
    super(
      `${kind} ${metadata.namespace}/${metadata.name} already exists and does not belong to this Cluster: ` +
        'delete it, or give the Cluster another name',
    );
    this.name = 'ForeignObjectError';
  }
}

/** The API rejected an object from templates and patches of a class; its message names object and field. */
export class RefusedObjectError extends Error {
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause });
    this.name = 'RefusedObjectError';
  }
}

/** A real API server reports a field without schema as an internal error. */
const isRefusal = (error: unknown): boolean =>
  isInvalid(error) ||
  (error instanceof ApiStatusError && error.message.startsWith('failed to create typed patch object'));

/**
 * Applies the objects of a topology, but skips the request if nothing changed. Each applied spec is remembered with the
 * resulting generation; nothing is sent while both stay the same. The memory only saves requests: without it, every
 * object is applied once more as a no-op.
 */
export interface ObjectApplier {
  /** whether a request is needed */
  differs(change: Change): boolean;
  apply(io: Io, change: Change, options?: { dryRun: boolean }): Promise<UnstructuredObject>;
  /**
   * determines the name of a template: that of the current one if the content is equal, otherwise a new one derived
   * from the content
   */
  settle(io: Io, follower: Follower, owner: KubeObject, desired: DesiredTemplate): Promise<Change>;
  /** forgets what was remembered for the objects of a cluster besides these */
  keepOnly(cluster: ObjectKey, objects: readonly KubeObject[]): void;
}

interface Applied {
  readonly text: string;
  readonly generation: number | undefined;
}

export function createObjectApplier(): ObjectApplier {
  const applied = new Map<string, Applied>();
  /** templates equal to the desired ones despite a different form */
  const equal = new Map<string, Applied>();
  /** uids of the objects by cluster */
  const byCluster = new Map<string, ReadonlySet<string>>();

  const send = async (
    io: Io,
    { resource, desired }: Change,
    { dryRun }: { dryRun: boolean },
  ): Promise<UnstructuredObject> => {
    try {
      return await io.client.apply(resource, desired, {
        fieldManager: topologyManager,
        force: true,
        signal: io.signal,
        ...(dryRun && { dryRun }),
      });
    } catch (error) {
      throw isRefusal(error) ? new RefusedObjectError(error) : error;
    }
  };

  const saysTheSame = async (io: Io, change: Change & { live: UnstructuredObject }): Promise<boolean> => {
    const { desired, live } = change;
    const { uid = '', generation } = live.metadata;
    const text = jsonText(desired['spec'] ?? {});
    const known = equal.get(uid);
    if (known?.text === text && known.generation === generation) return true;
    const probe: UnstructuredObject = {
      ...desired,
      metadata: {
        ...desired.metadata,
        name: live.metadata.name ?? '',
        annotations: { ...desired.metadata.annotations, [topologyDryRunAnnotation]: '' },
      },
    };
    const result = await send(io, { ...change, desired: probe }, { dryRun: true });
    const isSame =
      deepEqual(result['spec'], live['spec']) ||
      deepEqual(result['spec'], (await withDefaultsOfToday(io, change))['spec']);
    if (isSame) equal.set(uid, { text, generation });
    return isSame;
  };

  /** Webhooks may add defaults that the stored template lacks. A dry run of both makes them comparable. */
  const withDefaultsOfToday = async (io: Io, { resource, live }: Change & { live: UnstructuredObject }) =>
    await io.client.patch(
      resource,
      objectKey(live),
      'merge',
      { metadata: { annotations: { [topologyDryRunAnnotation]: '' } } },
      { fieldManager: topologyManager, dryRun: true, signal: io.signal },
    );

  return {
    differs({ desired, live }) {
      if (!live) return true;
      const last = applied.get(live.metadata.uid ?? '');
      return (
        last?.text !== jsonText(desired) ||
        last.generation !== live.metadata.generation ||
        !shows(live.metadata, visibleMetadata(desired))
      );
    },
    async apply(io, change, options = { dryRun: false }) {
      const stored = await send(io, change, options);
      if (!options.dryRun) {
        const { uid = '', generation } = stored.metadata;
        applied.set(uid, { text: jsonText(change.desired), generation });
      }
      return stored;
    },
    async settle(io, follower, owner, { object, prefix, role }) {
      const { group, version } = parseApiVersion(object.apiVersion);
      const kind = await follower.kindOf({ apiGroup: group, kind: object.kind }, io.signal);
      const resource = { ...kind.resource, version };
      const spec = jsonText(object['spec'] ?? {});
      // the next name is tried only if another object has this one, so a few attempts are enough
      for (let attempt = 0; attempt < 10; attempt++) {
        const name =
          attempt === 0
            ? (object.metadata.name ?? '')
            : prefixedName(prefix, stableSuffix(owner.metadata.uid ?? '', role, spec, String(attempt)));
        const desired = { ...object, metadata: { ...object.metadata, name } };
        const live = await getTemplate(io, follower, resource, desired);
        if (!live) return { resource, desired, live };
        if (!isOwnedBy(live, owner) || isDeleting(live)) continue;
        const change = { resource, desired, live };
        if (await saysTheSame(io, change)) return change;
      }
      throw new Error(`no free name was found for ${object.kind} ${object.metadata.name}`);
    },
    keepOnly(cluster, objects) {
      const id = formatKey(cluster);
      const kept = new Set(objects.map(({ metadata }) => metadata.uid ?? ''));
      for (const uid of byCluster.get(id) ?? []) {
        if (kept.has(uid)) continue;
        applied.delete(uid);
        equal.delete(uid);
      }
      if (kept.size > 0) byCluster.set(id, kept);
      else byCluster.delete(id);
    },
  };
}

/**
 * Ignores the conversion annotation, which holds fields an old version lacks and does not exist on the stored object.
 */
function visibleMetadata({ metadata }: UnstructuredObject): UnstructuredObject['metadata'] {
  const { [conversionDataAnnotation]: data, ...annotations } = metadata.annotations ?? {};
  return data === undefined ? metadata : { ...metadata, annotations };
}

async function getTemplate(
  { client, signal }: Io,
  follower: Follower,
  resource: Resource<UnstructuredObject>,
  desired: UnstructuredObject,
): Promise<UnstructuredObject | undefined> {
  const key = objectKey(desired);
  const reference = { apiGroup: resource.group, kind: resource.kind, name: key.name };
  const found = await follower.get(reference, key.namespace ?? '', { client, signal });
  if (!found || found.object.apiVersion === desired.apiVersion) return found?.object;
  return await client.get(resource, key, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Refuses to change objects the topology did not create. */
export function requireOwn({ live }: Change, owner: KubeObject): void {
  if (!live || isOwnedBy(live, owner)) return;
  // a restore may have dropped the owner reference; the labels still identify the creator
  const { labels, ownerReferences = [] } = live.metadata;
  const isMade = labels?.[topologyOwnedLabel] !== undefined && labels[clusterNameLabel] === owner.metadata.name;
  if (isMade && ownerReferences.length === 0) return;
  throw new ForeignObjectError(live);
}
