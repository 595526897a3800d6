import { simulatedBinary } from '../../../simkube/index.ts';
import type { RunningMachine } from '../types.ts';
import { imageVersion, type KubernetesVersion, parseVersion } from './kubeadm/version.ts';

const programs: ReadonlySet<string> = new Set(['kubeadm', 'kubectl', 'kubelet']);
const places = ['/usr/local/bin/', '/usr/bin/', '/opt/bin/'];
const mark = /^#!simulated \S+ (v\S+)/;

/** Reports whether an image is a node image, by its version, tags or name. */
function isForNodes({ server: { image } }: RunningMachine): boolean {
  if (!image) return false;
  if (imageVersion(image)) return true;
  return /(?:^|[-_ .])(?:capi|kube|kubeadm|k8s|node|nodes)(?:$|[-_ .])/i.test(image.name);
}

/** Reports whether a Kubernetes program is on a machine, from its image or installed later. */
export function hasProgram(machine: RunningMachine, name: string): boolean {
  if (!programs.has(name) || isForNodes(machine)) return true;
  return places.some((place) => machine.disk.read(place + name) !== undefined);
}

/** Returns the Kubernetes version of a machine, from its image or from later installations, or undefined if unknown. */
export function installedVersion(machine: RunningMachine): KubernetesVersion | undefined {
  for (const name of ['kubelet', 'kubeadm']) {
    for (const place of places) {
      const text = mark.exec(machine.disk.read(place + name) ?? '')?.[1];
      const version = text === undefined ? undefined : parseVersion(text);
      if (version) return version;
    }
  }
  return imageVersion(machine.server.image);
}

/**
 * Returns the files of Kubernetes packages. The version comes from the package manager's arguments, or else from its
 * repository.
 */
export function packageContent(
  machine: RunningMachine,
  wanted: string,
): { readonly path: string; readonly content: string } | 'unknown' | undefined {
  const [, name = '', given] = /^(kubeadm|kubelet|kubectl)(?:[=-]v?(\d+\.\d+\.\d+).*)?$/.exec(wanted) ?? [];
  if (name === '') return undefined;
  const minor = repositoryMinor(machine);
  if (minor === undefined) return isForNodes(machine) ? undefined : 'unknown';
  const version = given === undefined ? `v${minor}.0` : `v${given}`;
  return { path: `/usr/bin/${name}`, content: simulatedBinary(name, version) };
}

/** Finds the minor version in repository URLs such as `https://pkgs.k8s.io/core:/stable:/v1.33/deb/`. */
function repositoryMinor({ disk }: RunningMachine): string | undefined {
  for (const directory of ['/etc/apt/sources.list.d/', '/etc/yum.repos.d/']) {
    for (const path of disk.list(directory)) {
      const minor = /\/v(1\.\d{1,2})\//.exec(disk.read(path) ?? '')?.[1];
      if (minor !== undefined) return minor;
    }
  }
  return undefined;
}

/**
 * Serves URLs such as `https://dl.k8s.io/release/v1.33.1/bin/linux/amd64/kubeadm` and
 * `https://pkgs.k8s.io/core:/stable:/v1.33/deb/Release.key`.
 */
export function downloadKubernetes(url: URL): string | undefined {
  if (/^\/core:\/stable:\/v1\.\d{1,2}\/(?:deb\/Release\.key|rpm\/repodata\/repomd\.xml\.key)$/.test(url.pathname)) {
    return '-----BEGIN PGP PUBLIC KEY BLOCK-----\nsimulated\n-----END PGP PUBLIC KEY BLOCK-----\n';
  }
  const [, version, name = ''] = /\/(v\d+\.\d+\.\d+)\/bin\/linux\/\w+\/(\w+)$/.exec(url.pathname) ?? [];
  return version !== undefined && programs.has(name) ? simulatedBinary(name, version) : undefined;
}
