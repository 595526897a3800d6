import { builtinDefinitions, CustomResourceDefinitions } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import {
  CapstanError,
  formatApiVersion,
  type KubeObject,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';

/** A workload API does not serve the kind; its CustomResourceDefinition may come later. */
export class UnservedKindError extends CapstanError {
  constructor(apiVersion: string, kind: string) {
    super('CAP_UNKNOWN_RESOURCE', `the cluster serves no kind ${kind} in ${apiVersion}`, {
      hint: 'apply its CustomResourceDefinition first, or write the version that is served',
    });
    this.name = 'UnservedKindError';
  }
}

/** Finds the resource of any kind in one workload API. */
export interface ServedKinds {
  /** throws UnservedKindError */
  resourceOf(
    object: Pick<KubeObject, 'apiVersion' | 'kind'>,
    signal?: AbortSignal,
  ): Promise<Resource<UnstructuredObject>>;
}

const builtin: ReadonlyMap<string, Resource<UnstructuredObject>> = new Map(
  builtinDefinitions.flatMap(({ group, kind, plural, namespaced, versions }) =>
    versions.map(({ name: version }): [string, Resource<UnstructuredObject>] => [
      idOf(formatApiVersion(group, version), kind),
      { group, version, kind, plural, namespaced },
    ]),
  ),
);

function idOf(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** Built-in kinds are known; custom ones are read from their definitions, again if one is missing. */
export function createServedKinds(client: Client): ServedKinds {
  let custom: ReadonlyMap<string, Resource<UnstructuredObject>> | undefined;
  const load = async (signal: AbortSignal | undefined): Promise<ReadonlyMap<string, Resource<UnstructuredObject>>> => {
    const { items } = await client.list(CustomResourceDefinitions, signal ? { signal } : {});
    return new Map(
      items.flatMap(({ spec: { group, names, scope, versions } }) =>
        versions
          .filter(({ served }) => served)
          .map(({ name: version }): [string, Resource<UnstructuredObject>] => [
            idOf(formatApiVersion(group, version), names.kind),
            { group, version, kind: names.kind, plural: names.plural, namespaced: scope === 'Namespaced' },
          ]),
      ),
    );
  };
  return {
    async resourceOf({ apiVersion, kind }, signal) {
      const id = idOf(apiVersion, kind);
      const known = builtin.get(id) ?? custom?.get(id);
      if (known) return known;
      // only kinds with a group can be custom
      if (parseApiVersion(apiVersion).group !== '') custom = await load(signal);
      const found = custom?.get(id);
      if (!found) throw new UnservedKindError(apiVersion, kind);
      return found;
    },
  };
}
