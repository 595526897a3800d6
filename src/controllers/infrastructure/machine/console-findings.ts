import { printableLine } from '../../../machinery/index.ts';

/** Reason on the console why a machine has not become a Node. */
export interface ConsoleFinding {
  readonly reason: string;
  /** cause, the relevant line, and the remedy */
  readonly message: string;
}

interface Symptom {
  readonly reason: string;
  readonly line: RegExp;
  readonly cause: string;
  readonly cure: string;
}

/** The first match wins, so causes come before their consequences. Patterns match single lines. */
const symptoms: readonly Symptom[] = [
  {
    reason: 'NoBootDevice',
    line: /No bootable device|Boot failed: not a bootable disk|Kernel panic - not syncing/,
    cause: 'the image does not boot',
    cure: 'use an image that boots on this cloud',
  },
  {
    reason: 'DiskFull',
    line: /No space left on device/,
    cause: 'the disk is full',
    cure: 'use a flavor with a larger disk, or a root volume',
  },
  {
    reason: 'UserDataInvalid',
    line: /(?:Failed (?:loading yaml blob|at merging in cloud config)|Invalid cloud-config|Unhandled non-multipart|Ignition failed:|error at line \d+.*ignition|failed to parse config)/i,
    cause: 'cloud-init or Ignition cannot read the user data',
    cure: 'check files, commands and users of the bootstrap config',
  },
  {
    reason: 'NoMetadata',
    line: /(?:No instance datasource found|DataSourceNone|Calling 'http:\/\/169\.254\.169\.254\S*' failed|Giving up on (?:md|OpenStack metadata))/,
    cause: 'the machine gets no user data from the cloud',
    cure: 'check DHCP and the metadata service of the network, or set configDrive: true',
  },
  {
    reason: 'PackagesUnavailable',
    line: /(?:E: Unable to locate package|E: Failed to fetch|Could not resolve '|Temporary failure (?:in name resolution|resolving))/,
    cause: 'packages or names of hosts cannot be had',
    cure: 'check that the network has a router to the outside and name servers (dnsNameservers)',
  },
  {
    reason: 'ReleaseNotFound',
    line: /\[ERROR\]\s+(?:failed to download|\S+ artifacts were not found)|download failed|curl: \(22\)/i,
    cause: 'the release of Kubernetes cannot be had',
    cure: 'correct the version of the machine, or the way to where its release is',
  },
  {
    reason: 'ImageWithoutKubernetes',
    line: /(?:kubeadm|kubelet|k0s|rke2|containerd): (?:command )?not found|Unit kubelet\.service (?:not found|could not be found)/,
    cause: 'the image has no Kubernetes on it',
    cure: 'use an image with kubeadm of the right version, or install it with the commands of the bootstrap config',
  },
  {
    reason: 'WrongKubernetesVersion',
    line: /this version of kubeadm only supports deploying clusters|KubeletVersion|kubelet version is not supported/i,
    cause: 'the image has another version of Kubernetes than the cluster',
    cure: 'use an image of the version in spec.version',
  },
  {
    reason: 'PreflightFailed',
    line: /\[ERROR [A-Za-z0-9-]+\]:/,
    cause: 'a preflight check of kubeadm failed',
    cure: 'do what the check says, usually with another image or flavor',
  },
  {
    reason: 'TokenExpired',
    line: /(?:could not find a JWS signature in the cluster-info ConfigMap|token (?:id )?\S* ?(?:is expired|has expired|is invalid)|bootstrap token .*(?:expired|invalid)|failed to validate token)/i,
    cause: 'the token to join with is not valid any more',
    cure: 'delete the Machine: its replacement gets a new one',
  },
  {
    reason: 'AuthorityMismatch',
    line: /(?:cluster CA found in cluster-info ConfigMap is invalid|x509: certificate signed by unknown authority|public key .* not pinned)/,
    cause: 'the API at the endpoint is another cluster, or its authority has changed',
    cure: 'check the control plane endpoint; delete the Machine, so that its replacement learns the new authority',
  },
  {
    reason: 'ControlPlaneNotStarted',
    line: /(?:kube-apiserver|kube-controller-manager|kube-scheduler|etcd): .*(?:unknown flag|invalid argument|no such file)/,
    cause: 'a part of the control plane does not start',
    cure: 'correct its extraArgs, extraVolumes and files in the clusterConfiguration',
  },
  {
    reason: 'ControlPlaneNotStarted',
    line: /error execution phase wait-control-plane|\[control-plane-check\] \S+ is not healthy|control plane failed:/,
    cause: 'a part of the control plane does not start',
    cure: 'check the images, extraArgs and extraVolumes of the control plane; crictl logs on the machine says more',
  },
  {
    reason: 'EndpointUnreachable',
    line: /(?:dial tcp \S+: (?:i\/o timeout|connect: (?:connection refused|no route to host|connection timed out|network is unreachable))|Client\.Timeout exceeded|context deadline exceeded|Connection timed out|no route to host|couldn't validate the identity of the API Server)/,
    cause: 'the machine does not reach the API of the cluster',
    cure: 'check the endpoint of the cluster, its load balancer or floating IP, and the security groups (6443, for rke2 9345)',
  },
  {
    reason: 'ImagesUnavailable',
    line: /(?:failed to pull (?:and unpack )?image|ImagePullBackOff|ErrImagePull)/i,
    cause: 'container images cannot be pulled',
    cure: 'check the way to the registry, imageRepository and the credentials for it',
  },
  {
    reason: 'KubeadmFailed',
    line: /error execution phase [a-z0-9/-]+:/,
    cause: 'kubeadm failed',
    cure: 'read the console of the server: openstack console log show',
  },
  ...[/\blevel=fatal\b.*(?:snapshot|\bs3\b|cluster-reset)/i, /the snapshot \S+ was not restored/].map((line) => ({
    reason: 'SnapshotNotRestored',
    line,
    cause: 'the server could not start from the snapshot of etcd',
    cure: 'correct the annotation controlplane.cluster.x-k8s.io/restore, or backupConfig.s3 and its Secret, and delete the Machine',
  })),
  {
    reason: 'DistributionFailed',
    line: /\brke2(?:\[\d+\])?: .{0,100}\blevel=fatal\b/,
    cause: 'rke2 does not start',
    cure: 'correct serverConfig, agentConfig and privateRegistriesConfig',
  },
  {
    reason: 'CommandFailed',
    line: /(?:Failed running \S+runcmd|Failed to run module scripts|cc_scripts_user\.py\[WARNING\]|Failed to start Execute cloud user\/final scripts)/,
    cause: 'a command of the user data failed',
    cure: 'check the commands of the bootstrap config',
  },
];

const maxLineLength = 240;

/** Searches console output for a known reason why the machine is not a Node; undefined if there is none. */
export function findOnConsole(text: string): ConsoleFinding | undefined {
  // only the end, because a restarted machine begins again
  const lines = text
    .split('\n')
    .slice(-maxLines)
    .map((line) => line.slice(0, 4 * maxLineLength));
  for (const { reason, line: pattern, cause, cure } of symptoms) {
    const found = lines.findLast((line) => pattern.test(line));
    if (found !== undefined) return { reason, message: `${cause}: "${shown(found)}"; ${cure}` };
  }
  return undefined;
}

const maxLines = 400;
const bootstrapToken = /[a-z0-9]{6}\.[a-z0-9]{16}/g;
const secretSetting = /((?:password|token|secret|key)["']?\s*[=:]\s*)\S+/gi;

/** Prepares a line for a condition: without control characters and credentials, shortened. */
function shown(line: string): string {
  const text = printableLine(line)
    .replace(/^\[\s*\d+\.\d+\]\s*/, '')
    .replace(bootstrapToken, '******.****************')
    .replace(secretSetting, '$1***');
  return text.length > maxLineLength ? `${text.slice(0, maxLineLength - 1)}…` : text;
}
