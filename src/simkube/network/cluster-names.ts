import { isIP } from 'node:net';
import { must } from '../../machinery/index.ts';
import type { ClusterServices } from './cluster-services.ts';

type NamedServices = Pick<ClusterServices, 'get' | 'addresses'>;

const clusterDomain = 'cluster.local';
/** Maximum chain of aliases. */
const maxAliases = 8;

/** Resolves names of Services and their Pods like the cluster DNS. */
export function resolveClusterName(
  table: NamedServices,
  name: string,
  namespace: string | undefined,
  elsewhere: (name: string) => readonly string[],
  depth = 0,
): readonly string[] {
  const plain = name.toLowerCase().replace(/\.$/, '');
  const outside = elsewhere(plain);
  if (outside.length > 0) return outside;
  for (const full of candidates(plain, name.endsWith('.') ? undefined : namespace)) {
    const found = lookUp(table, full);
    if (!found) continue;
    if (!('alias' in found)) return found.addresses;
    if (depth >= maxAliases) return [];
    return isIP(found.alias)
      ? [found.alias]
      : resolveClusterName(table, `${found.alias}.`, undefined, elsewhere, depth + 1);
  }
  return [];
}

/** The name itself, and the name with each search domain of a Pod. */
function candidates(name: string, namespace: string | undefined): string[] {
  const suffixes = [
    ...(namespace === undefined ? [] : [`${namespace}.svc.${clusterDomain}`]),
    `svc.${clusterDomain}`,
    clusterDomain,
  ];
  return [name, ...suffixes.map((suffix) => `${name}.${suffix}`)].filter((full) =>
    full.endsWith(`.svc.${clusterDomain}`),
  );
}

type Found = { readonly addresses: readonly string[] } | { readonly alias: string };

/** Looks up SERVICE.NAMESPACE.svc.cluster.local or HOST.SERVICE.NAMESPACE.svc.cluster.local; undefined if unknown. */
function lookUp(table: NamedServices, full: string): Found | undefined {
  const labels = full.slice(0, -`.svc.${clusterDomain}`.length).split('.');
  if (labels.length < 2 || labels.length > 3) return undefined;
  const [namespace, service, hostname] = [...labels].reverse();
  const found = table.get(must(namespace, 'namespace'), must(service, 'service'));
  if (!found) return undefined;
  const { type, externalName, clusterIP } = found.spec;
  if (hostname !== undefined) {
    const addresses = table.addresses(found, hostname);
    return addresses.length > 0 ? { addresses } : undefined;
  }
  if (type === 'ExternalName') return { alias: externalName ?? '' };
  if (clusterIP === 'None') return { addresses: table.addresses(found) };
  return { addresses: clusterIP ? [clusterIP] : [] };
}
