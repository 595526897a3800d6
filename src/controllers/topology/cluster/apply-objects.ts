import {
  clusterNameLabel,
  conversionDataAnnotation,
  topologyDryRunAnnotation,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
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

/** An object as it should be, beside what is there of it. */
export interface Change {
  readonly resource: Resource<UnstructuredObject>;
  readonly desired: UnstructuredObject;
  readonly live: UnstructuredObject | undefined;
}

/** Something of the same name is there that the topology did not make. */
export class ForeignObjectError extends Error {
  constructor({ kind, metadata }: KubeObject) {
    super(
      `${kind} ${metadata.namespace}/${metadata.name} is there already and does not belong to this Cluster: ` +
        'delete it, or give the Cluster another name',
    );
    this.name = 'ForeignObjectError';
  }
}

/** The API does not take what templates and patches of a class made; the message of the API names object and field. */
export class RefusedObjectError extends Error {
  constructor(cause: unknown) {
    super(errorMessage(cause), { cause });
    this.name = 'RefusedObjectError';
  }
}

/** A field that no schema has is an internal error to a real API server. */
const isRefusal = (error: unknown): boolean =>
  isInvalid(error) ||
  (error instanceof ApiStatusError && error.message.startsWith('failed to create typed patch object'));

/**
 * Writes what a topology consists of, and stays silent while it is as desired. What was applied is remembered with the generation
 * it led to: as long as neither changes, nothing is sent. The memory saves requests only; without it each object is applied once
 * more, to no effect.
 */
export interface ObjectApplier {
  /** Whether something must be sent. */
  differs(change: Change): boolean;
  apply(io: Io, change: Change, options?: { dryRun: boolean }): Promise<UnstructuredObject>;
  /**
   * The template under the name it is to have: the one in use while that says the same, else a new one whose name follows from what
   * it says.
   */
  settle(io: Io, follower: Follower, owner: KubeObject, desired: DesiredTemplate): Promise<Change>;
  forget(uid: string): void;
}

interface Applied {
  readonly text: string;
  readonly generation: number | undefined;
}

export function createObjectApplier(): ObjectApplier {
  const applied = new Map<string, Applied>();
  /** templates that say the same as what is desired, though in other words */
  const equal = new Map<string, Applied>();

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

  /** Webhooks may give a template defaults it was stored without: that is no difference. Asked the same way, both have them. */
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
      // each next name is tried only where one was taken by something else: a bound is enough
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
    forget(uid) {
      applied.delete(uid);
      equal.delete(uid);
    },
  };
}

/** What an old version cannot say travels in an annotation, which the stored object does not have. */
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

/** Objects that a topology did not make are not its to change. */
export function requireOwn({ live }: Change, owner: KubeObject): void {
  if (!live || isOwnedBy(live, owner)) return;
  // the owner reference may have been lost in a backup; the labels tell who made it
  const { labels, ownerReferences = [] } = live.metadata;
  const isMade = labels?.[topologyOwnedLabel] !== undefined && labels[clusterNameLabel] === owner.metadata.name;
  if (isMade && ownerReferences.length === 0) return;
  throw new ForeignObjectError(live);
}
