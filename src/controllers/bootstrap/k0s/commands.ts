import { posix } from 'node:path';
import { type K0sWorkerConfigSpec, k0sVersionOf } from '../../../api/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';

/** On Nodes: the machine they are. Names of nodes may be others. */
export const machineNameLabel = 'k0smotron.io/machine-name';

const kubeletArgsFlag = '--kubelet-extra-args';
const downloadScript = 'https://get.k0s.sh';
const maxLabelValue = 63;

export const defaultInstallDirectory = '/usr/local/bin';

/** Whoever waits for a machine looks for this file. */
const sentinelCommand = 'mkdir -p /run/cluster-api && touch /run/cluster-api/bootstrap-success.complete';

/** The service is k0sworker on every kind of init system k0s installs itself into. */
const startCommand = [
  '(command -v systemctl > /dev/null 2>&1 && systemctl start k0sworker)',
  '(command -v rc-service > /dev/null 2>&1 && rc-service k0sworker start)',
  '(command -v service > /dev/null 2>&1 && service k0sworker start)',
  '(echo "Not a supported init system"; false)',
].join(' || ');

export interface WorkerCommandsInput {
  spec: K0sWorkerConfigSpec;
  machineName: string;
  /** empty: the newest there is */
  version: string;
  /** what an Ingress in front of the API needs on every node */
  ingress: readonly string[];
}

/** What a machine runs, in this order, to become a worker. */
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

/** Where the join token is put. */
export function tokenPath({ workingDir }: K0sWorkerConfigSpec): string {
  return workingDir ? posix.join(workingDir, 'k0s.token') : '/etc/k0s.token';
}

/** The version of k0s a worker gets, as its download knows it; empty when nobody has said one. */
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
    // oras keeps its settings below HOME, which cloud-init does not set
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
 * The flags of `k0s install worker`. k0s takes flags for the kubelet as one text: what the user gives and what we add are
 * put together in one flag at the end.
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
    // a flag whose value is the next entry of the list
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
