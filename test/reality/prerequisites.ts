import { access } from 'node:fs/promises';
import { missingKubectl } from '../support/kubectl.ts';
import { isInstalled } from '../support/process.ts';

/** Returns the missing prerequisites by name, or an empty list. */
export async function missingPrerequisites(): Promise<string[]> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return ['Linux on x86-64'];
  if (process.getuid?.() !== 0) return ['root: containers, network namespaces and mounts are made'];
  const programs: readonly (readonly [name: string, ...args: string[]])[] = [
    ['containerd', '--version'],
    ['ctr', '--version'],
    ['runc', '--version'],
    ['iptables', '--version'],
    ['ip', '-V'],
    ['unshare', '--version'],
  ];
  const missing: string[] = [];
  for (const [name, ...args] of programs) if (!(await isInstalled(name, ...args))) missing.push(name);
  for (const plugin of ['bridge', 'host-local', 'loopback']) {
    if (!(await isThere(`/usr/lib/cni/${plugin}`))) missing.push(`/usr/lib/cni/${plugin}`);
  }
  const kubectl = await missingKubectl();
  return [...missing, ...(kubectl === undefined ? [] : ['kubectl'])];
}

/** Debian packages of the prerequisites. */
export const packages =
  'containerd runc containernetworking-plugins iptables iproute2 util-linux (kubectl from kubernetes.io)';

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
