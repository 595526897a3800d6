import type { Disk } from '../../types.ts';

export const configFile = '/etc/rancher/rke2/config.yaml';
export const registriesFile = '/etc/rancher/rke2/registries.yaml';
export const adminKubeconfig = '/etc/rancher/rke2/rke2.yaml';
const usualDirectory = '/var/lib/rancher/rke2';

/** Returns the data directory of rke2, or undefined if the machine is not configured for it. */
export function rke2DataDirectory(disk: Disk): string | undefined {
  const config = disk.read(configFile);
  if (config === undefined) return undefined;
  return /^data-dir:\s*["']?([^\s"']+)/m.exec(config)?.[1] ?? usualDirectory;
}
