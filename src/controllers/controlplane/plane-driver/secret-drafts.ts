import { type Secret, Secrets } from '../../../api/index.ts';
import type { Client, ObjectKey } from '../../../client/index.ts';
import { asJson, deepEqual, type JsonObject, type OwnerReference } from '../../../machinery/index.ts';
import { controllerOf, withOwner } from '../../shared/index.ts';
import { allDone } from './all-done.ts';
import { objectId } from './resources.ts';

/** Desired content of a Secret; keys of other owners stay. */
export interface SecretSpec {
  readonly type?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** undefined removes the key */
  readonly data: Readonly<Record<string, string | undefined>>;
}

export interface SecretDraftsOptions {
  client: Client;
  namespace: string;
  owner: OwnerReference;
  fieldManager: string;
  /** reads from a cache or the API */
  read(key: ObjectKey): Promise<Secret | undefined>;
  /** collects the objects to be created */
  making?: Set<string>;
  signal: AbortSignal;
}

/** Collects the desired Secrets of a reconcile and writes each at most once; several credentials may share a Secret. */
export interface SecretDrafts {
  put(name: string, desired: SecretSpec): void;
  /** resolves with the Secrets that were written, by name */
  flush(): Promise<Map<string, Secret>>;
}

export function secretDrafts(options: SecretDraftsOptions): SecretDrafts {
  const { client, namespace, owner, fieldManager, signal } = options;
  const drafts = new Map<string, SecretSpec>();

  const create = (name: string, desired: SecretSpec): Promise<Secret> => {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        ...(desired.labels && { labels: { ...desired.labels } }),
        ...(desired.annotations && { annotations: { ...desired.annotations } }),
        ownerReferences: [owner],
      },
      ...(desired.type !== undefined && { type: desired.type }),
      data: encoded(desired.data) as Record<string, string>,
    };
    options.making?.add(objectId(Secrets, secret));
    return client.create(Secrets, secret, { fieldManager, signal });
  };

  const write = async (name: string, desired: SecretSpec): Promise<Secret | undefined> => {
    const live = await options.read({ namespace, name });
    // a stale cache leads to a conflict and a retry
    if (!live) return await create(name, desired);
    const patch = difference(live, desired, owner);
    if (!patch) return undefined;
    const locked = {
      ...patch,
      metadata: {
        ...(patch['metadata'] as JsonObject | undefined),
        resourceVersion: live.metadata.resourceVersion ?? '',
      },
    };
    return await client.patch(Secrets, { namespace, name }, 'merge', locked as JsonObject, { fieldManager, signal });
  };

  return {
    put(name, desired) {
      const before = drafts.get(name);
      drafts.set(
        name,
        before
          ? {
              ...before,
              ...desired,
              labels: { ...before.labels, ...desired.labels },
              annotations: { ...before.annotations, ...desired.annotations },
              data: { ...before.data, ...desired.data },
            }
          : desired,
      );
    },
    async flush() {
      const written = new Map<string, Secret>();
      const specs = [...drafts];
      drafts.clear();
      // written in parallel; the next reconcile repeats failed writes
      const stored = await allDone(specs.map(([name, desired]) => write(name, desired)));
      for (const [index, [name]] of specs.entries()) if (stored[index]) written.set(name, stored[index]);
      return written;
    },
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function encoded(data: SecretSpec['data']): Record<string, string | null> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, text === undefined ? null : base64(text)]));
}

/** Returns a merge patch; undefined if nothing differs. */
function difference(live: Secret, desired: SecretSpec, owner: OwnerReference): JsonObject | undefined {
  const data: JsonObject = {};
  for (const [key, value] of Object.entries(encoded(desired.data))) {
    if ((live.data?.[key] ?? null) !== value) data[key] = value;
  }
  const metadata: JsonObject = {};
  for (const field of ['labels', 'annotations'] as const) {
    const missing = Object.entries(desired[field] ?? {}).filter(
      ([key, value]) => live.metadata[field]?.[key] !== value,
    );
    if (missing.length > 0) metadata[field] = Object.fromEntries(missing);
  }
  const others = controllerOf(live);
  if (!others || others.uid === owner.uid || (others.kind === owner.kind && others.name === owner.name)) {
    const owners = withOwner(live.metadata.ownerReferences, owner);
    if (!deepEqual(owners, live.metadata.ownerReferences ?? [])) {
      metadata['ownerReferences'] = asJson(owners);
    }
  }
  const hasData = Object.keys(data).length > 0;
  const hasMetadata = Object.keys(metadata).length > 0;
  if (!hasData && !hasMetadata) return undefined;
  return { ...(hasData && { data }), ...(hasMetadata && { metadata }) };
}
