import type { KubeadmControlPlane } from '../../../../api/index.ts';
import type { Random } from '../../../../machinery/index.ts';

const maxNameLength = 63;
const randomLength = 5;
const defaultTemplate = '{{ .kubeadmControlPlane.name }}-{{ .random }}';
const variable = /\{\{-?\s*\.([a-zA-Z.]+)\s*-?\}\}/g;

/** A name for a new machine, as the naming template of the control plane says. */
export function machineName(controlPlane: KubeadmControlPlane, clusterName: string, random: Random): string {
  const suffix = random.text(randomLength);
  const values: Readonly<Record<string, string>> = {
    'kubeadmControlPlane.name': controlPlane.metadata.name ?? '',
    'cluster.name': clusterName,
    random: suffix,
  };
  const template = controlPlane.spec.machineNaming?.template ?? defaultTemplate;
  const name = template.replace(variable, (_, path: string) => values[path] ?? '');
  if (name.length <= maxNameLength) return name;
  // the random part is what tells machines apart: it must survive
  const base = template.replace(variable, (_, path: string) => (path === 'random' ? '' : (values[path] ?? '')));
  return `${base.slice(0, maxNameLength - randomLength)}${suffix}`;
}
