import {
  clone,
  deepEqual,
  type JsonObject,
  type ResourceDefinition,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { loopbackUser } from '../auth/index.ts';
import type { ResourceApi } from '../service/resource-api.ts';
import type { Caller } from '../service/types.ts';
import { updateObject } from '../service/update.ts';
import { objectKey } from '../storage/keys.ts';

const settings = { dryRun: false, fieldManager: 'capstan', fieldValidation: 'Ignore' } as const;

/** Publishes our own kinds as CustomResourceDefinitions, and brings those of an older program up to date. */
export async function publishNativeKinds(api: ResourceApi, definitions: Iterable<ResourceDefinition>): Promise<void> {
  const { registry, store } = api.context;
  const crds = registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (!crds) return;
  const caller: Caller = {
    user: loopbackUser,
    userAgent: 'capstan',
    signal: new AbortController().signal,
    warn: () => {},
  };
  const publish = async ({ crd }: ResourceDefinition): Promise<void> => {
    if (!crd) return;
    const name = crd.metadata.name!;
    const live = store.head(objectKey(crds.resource.keySpace, undefined, name));
    if (!live) {
      const body = { value: clone(crd), duplicateFields: [] };
      await api.create({ ...crds, namespace: undefined }, body, caller, settings);
      return;
    }
    if (covers(live.value.object, crd)) return;
    await updateObject({
      context: api.context,
      target: { ...crds, namespace: undefined, name },
      subresource: undefined,
      caller,
      settings,
      next: (object) => {
        const draft = clone(object);
        draft.metadata.labels = { ...draft.metadata.labels, ...crd.metadata.labels };
        draft.spec = clone(crd['spec']) as JsonObject;
        return { draft, conditional: false };
      },
    });
  };
  await Promise.all([...definitions].map(publish));
}

/** True when the stored definition already says what ours says (defaults aside). */
function covers(live: UnstructuredObject, wanted: JsonObject): boolean {
  const liveSpec = live.spec as JsonObject;
  const wantedSpec = wanted['spec'] as JsonObject;
  const labels = ((wanted['metadata'] as JsonObject)['labels'] ?? {}) as Record<string, string>;
  return (
    deepEqual(liveSpec['versions'], wantedSpec['versions']) &&
    Object.entries(labels).every(([key, value]) => live.metadata.labels?.[key] === value)
  );
}
