import { ConfigMaps, Leases, Nodes, Pods, Secrets, ServiceAccounts } from '../../api/index.ts';
import { type Client, resourceId, scopedClient } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';

export interface GuestIdentities {
  /** client of `system:node:NAME`: the node's own objects and those of its Pods */
  readonly node: Client;
  /** client of a separate account: volumes, and addresses of Services */
  readonly provider: Client;
  readonly nodeName: string;
}

/** Resources the node accesses with the standard rights of nodes. */
const ofNodes: ReadonlySet<string> = new Set(
  [Pods, Nodes, Leases, Secrets, ConfigMaps, ServiceAccounts].map((resource) => resourceId(resource)),
);

/**
 * Combines two identities into one client, chosen by resource. For Nodes and Pods it sees only the node's own: a node
 * may not list others, and callers need not know that.
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
