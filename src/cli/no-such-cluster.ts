import { Clusters, LatticeClusters, latticeNamespace } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { accessNamespace, managementAnnotation } from '../controllers/index.ts';
import { CapstanError } from '../machinery/index.ts';

class NoSuchCluster extends CapstanError {
  readonly names: readonly string[];
  readonly namespace: string;

  constructor(names: readonly string[], namespace: string, hint: string) {
    const all = names.map((name) => `"${name}"`).join(', ');
    super('CAP_CLUSTER_NOT_FOUND', `there is no cluster ${all} in the namespace "${namespace}"`, { hint });
    this.names = names;
    this.namespace = namespace;
  }
}

export function noSuchCluster(names: string | readonly string[], namespace: string): CapstanError {
  return new NoSuchCluster(
    [names].flat(),
    namespace,
    '`capstan get clusters -A` lists them all; --namespace chooses another namespace',
  );
}

/** Adds where clusters of these names are to an error of `noSuchCluster`. Returns other errors unchanged. */
export async function located(error: unknown, client: Client, signal: AbortSignal): Promise<unknown> {
  if (!(error instanceof NoSuchCluster)) return error;
  const found: string[] = [];
  for (const name of error.names) {
    const place = await placeOf(client, name, signal).catch(() => undefined);
    if (place !== undefined) found.push(place);
  }
  return found.length === 0 ? error : new NoSuchCluster(error.names, error.namespace, found.join('; '));
}

async function placeOf(client: Client, name: string, signal: AbortSignal): Promise<string | undefined> {
  const { items } = await client.list(Clusters, { fieldSelector: `metadata.name=${name}`, signal });
  const namespaces = items.map(({ metadata: { namespace = '' } }) => namespace);
  if (namespaces.length > 0) return `there is one in ${namespaces.join(', ')}: choose it with --namespace`;
  const lattice = await client.get(LatticeClusters, { name }, { signal });
  if (lattice.metadata.annotations?.[managementAnnotation] === undefined) {
    return `LatticeCluster ${name} has no Cluster yet; \`capstan why ${name}\` says what it waits for`;
  }
  const file = `${name}.kubeconfig`;
  return (
    `LatticeCluster ${name} manages itself, so its objects are in it: \`capstan get kubeconfig ${name} -n ${accessNamespace} > ${file}\`, ` +
    `then add --kubeconfig ${file} -n ${latticeNamespace(name)}`
  );
}

export function describeCommand(name: string, namespace: string): string {
  return `\`capstan describe cluster ${name} -n ${namespace}\``;
}
