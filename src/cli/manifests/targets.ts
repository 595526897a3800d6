import type { DiscoveredResource } from '../../client/index.ts';
import {
  asTyped,
  CapstanError,
  type ObjectMeta,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';
import type { ManifestDocument } from './read-manifests.ts';

/** Resource and object of a document on the server. */
export interface Target {
  resource: Resource<UnstructuredObject>;
  key: { namespace?: string; name: string };
  /** the object including its namespace */
  object: UnstructuredObject;
  /** `cluster.cluster.x-k8s.io/basic-1` */
  label: string;
}

/** Finds the kind of a document on the server and its namespace. */
export async function targetOf(
  { object, origin }: ManifestDocument,
  connection: Connection,
  signal: AbortSignal,
): Promise<Target> {
  const { group, version } = parseApiVersion(object.apiVersion);
  const resource = await connection.mapper.forKind({ group, kind: object.kind, version }, { signal });
  if (!resource) {
    throw new CapstanError(
      'CAP_UNKNOWN_RESOURCE',
      `${origin}: the API does not serve the kind "${object.kind}" in ${object.apiVersion}`,
      {
        hint: 'check apiVersion and kind, or install the provider that defines it',
      },
    );
  }
  const metadata = asTyped<ObjectMeta & { name: string }>(object.metadata);
  const { name } = metadata;
  const label = labelOf(resource, name);
  if (!resource.namespaced) {
    return {
      resource,
      key: { name },
      object: object as UnstructuredObject,
      label,
    };
  }
  const namespace = metadata.namespace || connection.namespace;
  if (connection.namespaceGiven && namespace !== connection.namespace) {
    throw new CapstanError(
      'CAP_NAMESPACE_MISMATCH',
      `the manifest has the namespace "${namespace}", the command line "${connection.namespace}"`,
      { hint: `leave --namespace out, or write --namespace ${namespace}` },
    );
  }
  return {
    resource,
    key: { namespace, name },
    object: { ...object, metadata: { ...metadata, namespace } } as UnstructuredObject,
    label,
  };
}

/** Formats an object name as kubectl does: `secret/a`, `cluster.cluster.x-k8s.io/a`. */
export function labelOf({ singular, group }: DiscoveredResource, name: string): string {
  return `${singular}${group === '' ? '' : `.${group}`}/${name}`;
}
