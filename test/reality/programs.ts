import {
  findOrBuildEtcd,
  findOrBuildGoProgram,
  findOrBuildKubernetes,
  findOrBuildMain,
  type GoProgram,
  type KubernetesProgram,
  kubernetesVersion,
  type OwnProgram,
} from '../conformance/go-build.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Say = (line: string) => void;

/** Initial and upgraded version of the planes. The second is also the version of the hosting Kubernetes. */
export const planeVersions: readonly [from: string, to: string] = ['1.33.4', kubernetesVersion];
/** etcd version of the planes. */
export const planeEtcdVersion = '3.6.5';
/** Version of both programs: Go's checksum database does not answer for v0.33.0. */
export const konnectivityTag = 'v0.34.0';

const planePrograms = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const nodePrograms = ['kube-proxy', 'kubelet'] as const;

export type PlaneProgram = (typeof planePrograms)[number];

/** Paths of all built programs. */
export interface RealityPrograms {
  /** programs on the machine itself, newest version */
  readonly host: Readonly<Record<KubernetesProgram, string>>;
  /** programs by version */
  readonly planes: ReadonlyMap<string, Readonly<Record<PlaneProgram, string>>>;
  readonly konnectivity: string;
  readonly etcd: string;
  readonly dns: string;
  readonly pause: string;
}

/**
 * Finds all programs in the cache, or builds them; the first time takes half an hour. The planes have the given
 * versions.
 */
export async function findOrBuildAll(
  env: Environment,
  say: Say,
  versions: readonly string[],
): Promise<RealityPrograms> {
  const planes = new Map<string, Readonly<Record<PlaneProgram, string>>>();
  for (const version of versions) {
    planes.set(version, await findOrBuildKubernetes(version, planePrograms, env, say));
  }
  return {
    host: await findOrBuildKubernetes(kubernetesVersion, [...planePrograms, ...nodePrograms], env, say),
    planes,
    konnectivity: await findOrBuildGoProgram(konnectivityServer, env, say),
    etcd: await findOrBuildEtcd(planeEtcdVersion, env, say),
    dns: await findOrBuildMain(dns, env, say),
    pause: await findOrBuildMain(pause, env, say),
  };
}

const konnectivityServer: GoProgram = {
  name: 'konnectivity-server',
  module: 'sigs.k8s.io/apiserver-network-proxy',
  version: konnectivityTag,
  folder: 'cmd/server',
};

const coreDns = 'github.com/coredns/coredns';

/** CoreDNS with only the plugins for Services and Pods. */
const dns: OwnProgram = {
  name: 'coredns',
  version: '1.12.1',
  requires: { [coreDns]: 'v1.12.1' },
  main: [
    'package main',
    '',
    'import (',
    `\t"${coreDns}/core/dnsserver"`,
    `\t"${coreDns}/coremain"`,
    ...['bind', 'errors', 'kubernetes', 'ready'].map((plugin) => `\t_ "${coreDns}/plugin/${plugin}"`),
    ')',
    '',
    'func init() { dnsserver.Directives = []string{"bind", "ready", "errors", "kubernetes"} }',
    '',
    'func main() { coremain.Run() }',
  ],
};

/** Holds the namespaces of a Pod: waits, and reaps orphaned processes. */
const pause: OwnProgram = {
  name: 'pause',
  version: '1',
  requires: {},
  main: [
    'package main',
    '',
    'import (',
    '\t"os"',
    '\t"os/signal"',
    '\t"syscall"',
    ')',
    '',
    'func main() {',
    '\tsignals := make(chan os.Signal, 16)',
    '\tsignal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)',
    '\tfor received := range signals {',
    '\t\tif received != syscall.SIGCHLD {',
    '\t\t\tos.Exit(0)',
    '\t\t}',
    '\t\tfor {',
    '\t\t\tif pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {',
    '\t\t\t\tbreak',
    '\t\t\t}',
    '\t\t}',
    '\t}',
    '}',
  ],
};
