import { ConfigMaps, Leases, Nodes, Pods, Secrets, ServiceAccounts } from '../../api/index.ts';
import { type Client, resourceId, scopedClient } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';

export interface GuestIdentities {
  /** `system:node:NAME`: what belongs to a node, and to the Pods that were given to it */
  readonly node: Client;
  /** an account of its own: volumes, and addresses of Services */
  readonly provider: Client;
  readonly nodeName: string;
}

/** What a node does itself, with the rights every node has. */
const ofNodes: ReadonlySet<string> = new Set(
  [Pods, Nodes, Leases, Secrets, ConfigMaps, ServiceAccounts].map((resource) => resourceId(resource)),
);

/**
 * One client of two identities, by what is asked for. Of Nodes and Pods a node sees its own: it may ask for no others, and
 * whoever reads through this client need not know.
 */
export function guestClient({ node, provider, nodeName }: GuestIdentities): Client {
  const own = scopedClient(node, [
    { resource: Pods, fieldSelector: `spec.nodeName=${nodeName}` },
    { resource: Nodes, fieldSelector: `metadata.name=${nodeName}` },
  ]);
  const by = (resource: Resource<KubeObject>): Client => (ofNodes.has(resourceId(resource)) ? own : provider);
  return {
    get: (resource, key, options) => by(resource).get(resource, key, options),
    list: (resource, options) => by(resource).list(resource, options),
    watch: (resource, options) => by(resource).watch(resource, options),
    create: (resource, object, options) => by(resource).create(resource, object, options),
    update: (resource, object, options) => by(resource).update(resource, object, options),
    patch: (resource, key, type, patch, options) => by(resource).patch(resource, key, type, patch, options),
    apply: (resource, object, options) => by(resource).apply(resource, object, options),
    delete: (resource, key, options) => by(resource).delete(resource, key, options),
    deleteCollection: (resource, options) => by(resource).deleteCollection(resource, options),
    createSubresource: (resource, key, subresource, body, options) =>
      by(resource).createSubresource(resource, key, subresource, body, options),
  };
}
