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

/** The version planes begin with, and the one they are upgraded to. The second is also that of the hosting Kubernetes. */
export const planeVersions: readonly [from: string, to: string] = ['1.33.4', kubernetesVersion];
/** The etcd planes ask for. */
export const planeEtcdVersion = '3.6.5';
/** Of both: the checksum database of Go does not answer for v0.33.0. */
export const konnectivityTag = 'v0.34.0';

const planePrograms = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const nodePrograms = ['kube-proxy', 'kubelet'] as const;

export type PlaneProgram = (typeof planePrograms)[number];

/** Paths of everything that is built. */
export interface RealityPrograms {
  /** what runs on the machine itself, of the newest version */
  readonly host: Readonly<Record<KubernetesProgram, string>>;
  /** by version */
  readonly planes: ReadonlyMap<string, Readonly<Record<PlaneProgram, string>>>;
  readonly konnectivity: string;
  readonly etcd: string;
  readonly dns: string;
  readonly pause: string;
}

/** All programs, from the cache or freshly built; the first time takes half an hour. */
export async function findOrBuildAll(env: Environment, say: Say): Promise<RealityPrograms> {
  const planes = new Map<string, Readonly<Record<PlaneProgram, string>>>();
  for (const version of planeVersions) {
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

/** CoreDNS with the few plugins that answer names of Services and Pods. */
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

/** What holds the namespaces of a Pod: waits, and collects children nobody else waits for. */
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
