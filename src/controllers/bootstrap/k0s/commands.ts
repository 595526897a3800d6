import { posix } from 'node:path';
import { type K0sWorkerConfigSpec, k0sVersionOf } from '../../../api/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';

/** Node label with the machine name; node names may differ from machine names. */
export const machineNameLabel = 'k0smotron.io/machine-name';

const kubeletArgsFlag = '--kubelet-extra-args';
const downloadScript = 'https://get.k0s.sh';
const maxLabelValue = 63;

export const defaultInstallDirectory = '/usr/local/bin';

/** The bootstrap success sentinel of the Cluster API contract. */
const sentinelCommand = 'mkdir -p /run/cluster-api && touch /run/cluster-api/bootstrap-success.complete';

/** k0s names its worker service k0sworker on every supported init system. */
const startCommand = [
  '(command -v systemctl > /dev/null 2>&1 && systemctl start k0sworker)',
  '(command -v rc-service > /dev/null 2>&1 && rc-service k0sworker start)',
  '(command -v service > /dev/null 2>&1 && service k0sworker start)',
  '(echo "Not a supported init system"; false)',
].join(' || ');

export interface WorkerCommandsInput {
  spec: K0sWorkerConfigSpec;
  machineName: string;
  /** empty for the newest release */
  version: string;
  /** commands for a proxy to an API server behind an Ingress */
  ingress: readonly string[];
}

/** Lists the commands that turn a machine into a worker, in order. */
export function workerCommands({ spec, machineName, version, ingress }: WorkerCommandsInput): string[] {
  return [
    ...(spec.preK0sCommands ?? []),
    ...downloadCommands(spec, version),
    ...ingress,
    installCommand(spec, machineName),
    startCommand,
    ...(spec.postK0sCommands ?? []),
    sentinelCommand,
  ];
}

export function tokenPath({ workingDir }: K0sWorkerConfigSpec): string {
  return workingDir ? posix.join(workingDir, 'k0s.token') : '/etc/k0s.token';
}

/** Returns the k0s version of a worker in the form of its download URL; empty if none is specified. */
export function workerVersion(spec: K0sWorkerConfigSpec, machineVersion: string | undefined): string {
  const desired = spec.version || machineVersion;
  return desired ? k0sVersionOf(desired) : '';
}

const installDirectory = ({ k0sInstallDir }: K0sWorkerConfigSpec): string => k0sInstallDir || defaultInstallDirectory;

const programPath = (spec: K0sWorkerConfigSpec): string => posix.join(installDirectory(spec), 'k0s');

function downloadCommands(spec: K0sWorkerConfigSpec, version: string): string[] {
  const { preInstalledK0s, downloadURL } = spec;
  if (preInstalledK0s === true) return [];
  if (!downloadURL || downloadURL === downloadScript) {
    const variables = [`K0S_INSTALL_PATH=${installDirectory(spec)}`, ...(version ? [`K0S_VERSION=${version}`] : [])];
    return [`curl -sSfL --retry 5 ${downloadScript} | ${variables.join(' ')} sh`];
  }
  const program = programPath(spec);
  const executable = `chmod +x ${program}`;
  const url = URL.canParse(downloadURL) ? new URL(downloadURL) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') {
    return [`curl -sSfL --retry 5 ${downloadURL} -o ${program}`, executable];
  }
  if (url?.protocol === 'oci:') {
    // oras stores its settings below HOME, which cloud-init does not set
    return [
      'export HOME=/root',
      `oras blob fetch --output ${program} ${downloadURL.slice('oci://'.length)}`,
      executable,
    ];
  }
  throw new BootstrapInputError(
    `spec.downloadURL: "${downloadURL}" is no address to download from; write one with http, https or oci`,
  );
}

function installCommand(spec: K0sWorkerConfigSpec, machineName: string): string {
  return [
    `${programPath(spec)} install worker --token-file ${tokenPath(spec)}`,
    ...workerArguments(spec, machineName),
  ].join(' ');
}

/**
 * Builds the flags of `k0s install worker`. k0s takes all kubelet flags in one flag, so the user's and the generated
 * ones are joined and placed last.
 */
export function workerArguments(
  { args = [], useSystemHostname }: Pick<K0sWorkerConfigSpec, 'args' | 'useSystemHostname'>,
  machineName: string,
): string[] {
  const plain: string[] = [];
  const kubelet = useSystemHostname === true ? [] : [`--hostname-override=${machineName}`];
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] ?? '';
    if (!isKubeletArguments(argument)) plain.push(argument);
    // flag with its value in the next list entry
    else if (argument === kubeletArgsFlag) kubelet.push(unquoted(args[++i] ?? ''));
    else kubelet.push(unquoted(argument.slice(kubeletArgsFlag.length + 1)));
  }
  const given = kubelet.filter((text) => text !== '');
  return [
    ...(machineName.length <= maxLabelValue ? [`--labels=${machineNameLabel}=${machineName}`] : []),
    ...plain,
    ...(given.length > 0 ? [`${kubeletArgsFlag}="${given.join(' ')}"`] : []),
  ];
}

function isKubeletArguments(argument: string): boolean {
  if (!argument.startsWith(kubeletArgsFlag)) return false;
  const next = argument.charAt(kubeletArgsFlag.length);
  return next === '' || next === '=' || next === ' ';
}

const unquoted = (text: string): string => text.trim().replace(/^["']+|["']+$/g, '');
