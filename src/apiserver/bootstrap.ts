import {
  clone,
  formatTime,
  isAlreadyExists,
  type KubeObject,
  type ObjectMeta,
  parseApiVersion,
  type ResourceDefinition,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { ConflictError } from '../store/index.ts';
import { bootstrapPolicy, loopbackUser } from './auth/index.ts';
import type { RegisteredResource } from './registry/index.ts';
import type { ResourceApi } from './service/resource-api.ts';
import type { Caller } from './service/types.ts';
import { objectKey } from './storage/keys.ts';

const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const settings = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' } as const;

/** Creates the initial objects of every Kubernetes API server. Existing objects are left unchanged. */
export async function ensureBootstrapObjects(api: ResourceApi, extra: readonly KubeObject[] = []): Promise<void> {
  const { registry, store } = api.context;
  const caller: Caller = {
    user: loopbackUser,
    userAgent: 'kube-apiserver',
    signal: new AbortController().signal,
    warn: () => {},
  };
  const resources = new Map(
    Array.from(registry.all(), (resource) => [kindId(resource.definition.group, resource.definition.kind), resource]),
  );
  const ensure = async (object: KubeObject, patterns?: Patterns): Promise<void> => {
    const { group, version } = parseApiVersion(object.apiVersion);
    const resource = resources.get(kindId(group, object.kind));
    const served = resource && registry.find(group, version, resource.definition.plural);
    if (!served) return;
    const { namespace, name } = object.metadata;
    const key = objectKey(served.resource.keySpace, namespace, name ?? '');
    if (store.head(key)) return;
    try {
      const pattern = patterns?.get(object);
      if (pattern?.definition === served.resource.definition) {
        await createLike(pattern.object, key, served.resource, api.context);
        return;
      }
      // A create takes ownership of its body, but these objects are shared by all servers of the process.
      const body = { value: clone(object) as UnstructuredObject, duplicateFields: [] };
      const written = await api.create({ ...served, namespace }, body, caller, settings);
      patterns?.set(object, { definition: served.resource.definition, object: written.object });
    } catch (error) {
      if (!isAlreadyExists(error) && !(error instanceof ConflictError)) throw error;
    }
  };
  const { namespaces, others } = fixedObjects();
  await Promise.all(namespaces.map((object) => ensure(object, madeBefore)));
  await Promise.all([...others.map((object) => ensure(object, madeBefore)), ...extra.map((object) => ensure(object))]);
}

/** Stored form of objects that are the same on all servers, keyed by the source object. */
type Patterns = WeakMap<KubeObject, { definition: ResourceDefinition; object: UnstructuredObject }>;

/** Thousands of simulated clusters contain the same hundred objects, so their stored form is computed once. */
const madeBefore: Patterns = new WeakMap();

/** Stores a copy that differs from the object of another server only in its identity. */
async function createLike(
  pattern: UnstructuredObject,
  key: string,
  resource: RegisteredResource,
  { clock, random, store }: ResourceApi['context'],
): Promise<void> {
  const nowMs = clock.now();
  const time = formatTime(nowMs);
  const { managedFields } = pattern.metadata;
  const metadata: ObjectMeta = {
    ...pattern.metadata,
    uid: random.uuid(),
    creationTimestamp: time,
    ...(managedFields && { managedFields: managedFields.map((entry) => ({ ...entry, time })) }),
  };
  await store.put(key, { kind: 'absent' }, (revision) => {
    metadata.resourceVersion = String(revision);
    return resource.toStored({ ...pattern, metadata }, nowMs);
  });
}

const kindId = (group: string, kind: string): string => `${group}/${kind}`;

interface FixedObjects {
  readonly namespaces: readonly KubeObject[];
  readonly others: readonly KubeObject[];
}

let fixed: FixedObjects | undefined;

function fixedObjects(): FixedObjects {
  fixed ??= {
    namespaces: systemNamespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    others: [...bootstrapPolicy(), ...priorityClasses],
  };
  return fixed;
}

const priorityClasses: KubeObject[] = [
  ['system-cluster-critical', 2_000_000_000, 'For pods the whole cluster depends on.'] as const,
  ['system-node-critical', 2_000_001_000, 'For pods a node cannot work without.'] as const,
].map(([name, value, description]) => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  description,
}));
