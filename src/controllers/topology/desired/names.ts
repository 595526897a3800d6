import { createHash } from 'node:crypto';
import type { Cluster } from '../../../api/index.ts';
import { renderText } from '../patches/value-template.ts';

// Names derive from data known before creation, so that an interrupted reconcile finds its objects again. `{{ .random
// }}` in a naming template becomes five characters of a hash.

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const randomLength = 5;
const maxNameLength = 63;

/** Five characters derived from the parts. */
export function stableSuffix(...parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  let suffix = '';
  for (let i = 0; i < randomLength; i++) suffix += alphabet[digest.readUInt32BE(i * 4) % alphabet.length];
  return suffix;
}

export const defaultPlaneNaming = '{{ .cluster.name }}-{{ .random }}';
export const defaultWorkerNaming = '{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}';

/** Renders a naming template. Throws an Error that names the template. */
export function nameFrom(
  template: string,
  data: { cluster: string; machineDeployment?: string; random: string },
): string {
  const { cluster, machineDeployment, random } = data;
  const values = {
    cluster: { name: cluster },
    random,
    ...(machineDeployment !== undefined && { machineDeployment: { topologyName: machineDeployment } }),
  };
  const name = renderText(template, values, { missingKey: 'error' });
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength - randomLength)}${random}` : name;
}

/** Joins a prefix, truncated if too long, and a suffix. */
export function prefixedName(prefix: string, suffix: string): string {
  return `${prefix.slice(0, maxNameLength - randomLength)}${suffix}`;
}

/** Values of `{{ .random }}` in the names of infrastructure, control plane and workers. */
export function suffixesOf({ metadata: { uid = '' }, spec: { topology } }: Cluster): string[] {
  const workers = topology?.workers?.machineDeployments ?? [];
  return ['infrastructure', 'control-plane', ...workers.map(({ name }) => name)].map((part) => stableSuffix(uid, part));
}
