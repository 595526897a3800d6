import { asJson, isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../../machinery/index.ts';

/** Objects that are referenced but not owned, in the same namespace or cluster-scoped. */
export interface UsedObjects {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  /** OpenStackClusterIdentities */
  readonly identities: ReadonlySet<string>;
}

/** Fields with the `name` of a Secret. */
const secretFields: ReadonlySet<string> = new Set(['secretRef', 'cloudsSecret', 'secretKeyRef']);

/** Collects Secrets, ConfigMaps and identities that specs refer to. */
export function usedObjects(objects: Iterable<KubeObject>): UsedObjects {
  const used = { secrets: new Set<string>(), configMaps: new Set<string>(), identities: new Set<string>() };
  const add = (to: Set<string>, name: JsonValue | undefined): void => {
    if (typeof name === 'string' && name !== '') to.add(name);
  };
  const visitField = (key: string, value: JsonObject): void => {
    const { name, kind, type, secretName } = value;
    if (key === 'identityRef') {
      add(
        (type ?? kind) === 'ClusterIdentity' || kind === 'OpenStackClusterIdentity' ? used.identities : used.secrets,
        name,
      );
    } else if (secretFields.has(key)) add(used.secrets, name);
    else if (key === 'cloudCredentialsRef') add(used.secrets, secretName);
    else if (key === 'contentFrom' || key === 'passwdFrom' || key === 'valueFrom') {
      const { secret, configMap } = value;
      if (isJsonObject(secret)) add(used.secrets, secret['name']);
      if (isJsonObject(configMap)) add(used.configMaps, configMap['name']);
    }
  };
  const visit = (value: JsonValue | undefined): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item);
    } else if (isJsonObject(value)) {
      for (const [key, child] of Object.entries(value)) {
        if (child !== undefined && isJsonObject(child)) visitField(key, child);
        visit(child);
      }
    }
  };
  for (const object of objects) {
    const { spec } = asJson(object);
    visit(spec);
    if (object.kind === 'ClusterResourceSet') addResources(spec, used, add);
  }
  return used;
}

/** Adds the resources of a ClusterResourceSet, which are listed by kind and name. */
function addResources(
  spec: JsonValue | undefined,
  used: { secrets: Set<string>; configMaps: Set<string> },
  add: (to: Set<string>, name: JsonValue | undefined) => void,
): void {
  const resources = isJsonObject(spec) ? spec['resources'] : undefined;
  if (!Array.isArray(resources)) return;
  for (const resource of resources.filter(isJsonObject)) {
    add(resource['kind'] === 'ConfigMap' ? used.configMaps : used.secrets, resource['name']);
  }
}
