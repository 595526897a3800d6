import {
  type CompoundValue,
  type KubeconfigGenerator,
  Namespaces,
  type TenantControlPlane,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import { asUnstructured, type JsonValue, labelSelectorFromObject } from '../../../../machinery/index.ts';
import type { CacheReader } from '../../../../runtime/index.ts';
import { at, isDeleting } from '../../../shared/index.ts';

/** Lists the control planes a generator selects, sorted by name. */
export function selectedTenants(cache: CacheReader, { spec }: KubeconfigGenerator): TenantControlPlane[] {
  const ofNamespace = labelSelectorFromObject(spec.namespaceSelector ?? {});
  const ofTenant = labelSelectorFromObject(spec.tenantControlPlaneSelector ?? {});
  const namespaces = cache.lister(Namespaces);
  const isIn = (namespace: string): boolean =>
    ofNamespace.matches(namespaces.get({ name: namespace })?.metadata.labels ?? {});
  return cache
    .lister(TenantControlPlanes)
    .list({
      filter: (tenant) =>
        !isDeleting(tenant) && ofTenant.matches(tenant.metadata.labels ?? {}) && isIn(tenant.metadata.namespace ?? ''),
    })
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

export const nameOf = ({ metadata }: TenantControlPlane): string => `${metadata.namespace}/${metadata.name}`;

/** Resolves a user or group name for a control plane; undefined if its definition yields none. */
export function valueFor(value: CompoundValue, tenant: TenantControlPlane): string | undefined {
  if (value.stringValue) return value.stringValue;
  const path = (value.fromDefinition ?? '').replace(/^\./, '').split('.');
  const found: JsonValue | undefined = at(asUnstructured(tenant), ...path);
  return typeof found === 'string' && found !== '' ? found : typeof found === 'number' ? String(found) : undefined;
}
