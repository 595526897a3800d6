import { type ClusterClass, ClusterClasses, ownDefinitions } from '../../../api/index.ts';
import type { Client, ObjectKey } from '../../../client/index.ts';
import {
  asTyped,
  asUnstructured,
  type KubeObject,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { definitionsByName, inline } from '../variables/definitions.ts';

/** Stored objects with an edit applied. */
export interface Overlay {
  /** reads edited objects from memory; everything else passes through */
  readonly client: Client;
  has(resource: Resource, key: ObjectKey): boolean;
}

const idOf = (group: string, kind: string, { namespace = '', name }: ObjectKey): string =>
  [group, kind, namespace, name].join('\n');

/** `edited`: objects as returned by a server-side dry run. */
export function createOverlay(client: Client, edited: readonly UnstructuredObject[]): Overlay {
  const objects = new Map<string, UnstructuredObject>();
  for (const object of edited) {
    const { namespace, name = '' } = object.metadata;
    const { group } = parseApiVersion(object.apiVersion);
    objects.set(idOf(group, object.kind, { ...(namespace !== undefined && { namespace }), name }), object);
  }
  const get: Client['get'] = async <T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: Parameters<Client['get']>[2],
  ): Promise<T> => {
    const object = objects.get(idOf(resource.group, resource.kind, key));
    if (!object) return await client.get(resource, key, options);
    const found = await inVersion(object, resource.version);
    return asTyped<T>(resource.kind === ClusterClasses.kind ? await reconciled(client, found) : found);
  };
  return {
    client: new Proxy(client, {
      get(target, name) {
        if (name === 'get') return get;
        const member: unknown = Reflect.get(target, name, target);
        // bind methods, because they need the original client as `this`
        return typeof member === 'function' ? member.bind(target) : member;
      },
    }),
    has: (resource, key) => objects.has(idOf(resource.group, resource.kind, key)),
  };
}

/** Kinds of other providers are read in their stored version; only their own server can convert them. */
async function inVersion(object: UnstructuredObject, version: string): Promise<UnstructuredObject> {
  const { group, version: written } = parseApiVersion(object.apiVersion);
  if (written === version) return object;
  const definition = ownDefinitions.find((one) => one.group === group && one.kind === object.kind);
  return definition?.convert ? await definition.convert(object, version) : object;
}

/** Builds the class as its controller would reconcile it; variables of extensions keep their last known definitions. */
async function reconciled(client: Client, object: UnstructuredObject): Promise<UnstructuredObject> {
  const edited = asTyped<ClusterClass>(object);
  const { namespace = '', name = '' } = edited.metadata;
  const live = await client.get(ClusterClasses, { namespace, name }).catch(() => undefined);
  const known = live?.status?.variables ?? [];
  const external = (edited.spec.patches ?? [])
    .filter(({ external: patch }) => patch?.discoverVariablesExtension !== undefined)
    .map(({ name: from }) => ({
      from,
      variables: known.flatMap(({ name: variable, definitions }) =>
        definitions
          .filter((one) => one.from === from)
          .map(({ from: _, ...definition }) => ({ name: variable, ...definition })),
      ),
    }));
  const variables = definitionsByName([{ from: inline, variables: edited.spec.variables ?? [] }, ...external]);
  const after: ClusterClass = {
    ...edited,
    status: {
      observedGeneration: edited.metadata.generation ?? 0,
      variables,
      conditions: [
        { type: 'VariablesReady', status: 'True', reason: 'VariablesReady', message: '', lastTransitionTime: '' },
      ],
    },
  };
  return asUnstructured(after);
}
