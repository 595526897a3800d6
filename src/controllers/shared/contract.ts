import type { ContractReference, FailureDomain, MachineAddress, ReplicaVersion } from '../../api/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, type UnstructuredObject } from '../../machinery/index.ts';

/** Version of the provider contract. */
export type ContractVersion = 'v1beta1' | 'v1beta2';

/** A provider object with its contract version. */
export interface ProviderObject {
  object: UnstructuredObject;
  contract: ContractVersion;
}

/** Returns the value at a path; undefined if absent. */
export function at(object: UnstructuredObject, ...path: readonly string[]): JsonValue | undefined {
  let node: unknown = object;
  for (const step of path) node = isJsonObject(node) ? node[step] : undefined;
  return node as JsonValue | undefined;
}

export function textAt(object: UnstructuredObject, ...path: readonly string[]): string | undefined {
  const value = at(object, ...path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberAt(object: UnstructuredObject, ...path: readonly string[]): number | undefined {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

const flagAt = (object: UnstructuredObject, ...path: readonly string[]): boolean => at(object, ...path) === true;

export function isProvisioned({ object, contract }: ProviderObject): boolean {
  return contract === 'v1beta1'
    ? flagAt(object, 'status', 'ready')
    : flagAt(object, 'status', 'initialization', 'provisioned');
}

export function isDataSecretCreated({ object, contract }: ProviderObject): boolean {
  return contract === 'v1beta1'
    ? flagAt(object, 'status', 'ready')
    : flagAt(object, 'status', 'initialization', 'dataSecretCreated');
}

export function dataSecretName({ object }: ProviderObject): string | undefined {
  return textAt(object, 'status', 'dataSecretName');
}

export function providerIdOf({ object }: ProviderObject): string | undefined {
  return textAt(object, 'spec', 'providerID');
}

const addressTypes = ['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS'];

export function addressesOf({ object }: ProviderObject): MachineAddress[] | undefined {
  const list = at(object, 'status', 'addresses');
  if (!Array.isArray(list)) return undefined;
  const addresses: MachineAddress[] = [];
  for (const entry of list) {
    if (!isJsonObject(entry)) continue;
    const { type, address } = entry;
    if (typeof address !== 'string' || address === '' || !addressTypes.includes(String(type))) continue;
    addresses.push({ type: type as MachineAddress['type'], address });
  }
  return addresses;
}

/** Returns the failure domain of a machine; in the v1beta1 contract it is in the spec. */
export function failureDomainOf({ object, contract }: ProviderObject): string | undefined {
  return (
    textAt(object, 'status', 'failureDomain') ??
    (contract === 'v1beta1' ? textAt(object, 'spec', 'failureDomain') : undefined)
  );
}

export function isInterruptible({ object }: ProviderObject): boolean {
  return flagAt(object, 'status', 'interruptible');
}

/** Converts failure domains of either contract, sorted by name. */
export function failureDomainsOf({ object }: ProviderObject): FailureDomain[] {
  const value = at(object, 'status', 'failureDomains');
  const entries: [string, JsonObject][] = [];
  if (Array.isArray(value)) {
    for (const entry of value) {
      if (isJsonObject(entry) && typeof entry['name'] === 'string') entries.push([entry['name'], entry]);
    }
  } else if (isJsonObject(value)) {
    for (const [name, entry] of Object.entries(value)) entries.push([name, isJsonObject(entry) ? entry : {}]);
  }
  return entries
    .map(([name, entry]): FailureDomain => {
      const { controlPlane, attributes } = entry;
      return {
        name,
        ...(typeof controlPlane === 'boolean' && { controlPlane }),
        ...(isJsonObject(attributes) &&
          Object.keys(attributes).length > 0 && { attributes: attributes as Record<string, string> }),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Returns the API endpoint once host and port are set. */
export function endpointOf({ object }: ProviderObject): { host: string; port: number } | undefined {
  const host = textAt(object, 'spec', 'controlPlaneEndpoint', 'host');
  const port = numberAt(object, 'spec', 'controlPlaneEndpoint', 'port');
  return host !== undefined && port !== undefined && port > 0 ? { host, port } : undefined;
}

export function isControlPlaneInitialized({ object, contract }: ProviderObject): boolean {
  return contract === 'v1beta1'
    ? flagAt(object, 'status', 'initialized')
    : flagAt(object, 'status', 'initialization', 'controlPlaneInitialized');
}

/** Tells whether a control plane is hosted, without machines and Nodes to protect. */
export function isExternallyManaged({ object }: ProviderObject): boolean {
  return flagAt(object, 'status', 'externalManagedControlPlane');
}

export interface ControlPlaneCounts {
  desiredReplicas?: number;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
}

/** Returns a control plane's machine counts; all absent if it has no machines. */
export function controlPlaneCounts({ object, contract }: ProviderObject): ControlPlaneCounts {
  const status = (field: string): number | undefined => numberAt(object, 'status', field);
  const desired = numberAt(object, 'spec', 'replicas');
  const replicas = status('replicas');
  const unavailable = status('unavailableReplicas');
  const available =
    contract === 'v1beta1' && replicas !== undefined && unavailable !== undefined
      ? Math.max(replicas - unavailable, 0)
      : status('availableReplicas');
  const upToDate = contract === 'v1beta1' ? status('updatedReplicas') : status('upToDateReplicas');
  const ready = status('readyReplicas');
  return {
    ...(desired !== undefined && { desiredReplicas: desired }),
    ...(replicas !== undefined && { replicas }),
    ...(ready !== undefined && { readyReplicas: ready }),
    ...(available !== undefined && { availableReplicas: available }),
    ...(upToDate !== undefined && { upToDateReplicas: upToDate }),
  };
}

export function controlPlaneVersions({ object }: ProviderObject): ReplicaVersion[] | undefined {
  const list = at(object, 'status', 'versions');
  if (!Array.isArray(list)) return undefined;
  const versions: ReplicaVersion[] = [];
  for (const entry of list) {
    if (!isJsonObject(entry) || typeof entry['version'] !== 'string') continue;
    const replicas = entry['replicas'];
    versions.push({ version: entry['version'], ...(typeof replicas === 'number' && { replicas }) });
  }
  return versions.length > 0 ? versions : undefined;
}

/** "Kind.group", the form of the cloned-from annotation. */
export function groupKindOf(reference: Pick<ContractReference, 'apiGroup' | 'kind'>): string {
  return `${reference.kind}.${reference.apiGroup}`;
}
