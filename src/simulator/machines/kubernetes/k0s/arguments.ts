import { must } from '../../../../machinery/index.ts';
import { splitWords } from '../kubelet/flags.ts';

/** Arguments of `k0s worker`. */
export interface WorkerArguments {
  readonly tokenFile: string | undefined;
  /** the token itself, from the last argument of the command line */
  readonly token: string | undefined;
  readonly labels: string | undefined;
  readonly taints: string | undefined;
  readonly kubeletArguments: string;
  readonly hasCloudProvider: boolean;
  readonly profile: string;
}

const valued: ReadonlySet<string> = new Set([
  'token-file',
  'labels',
  'taints',
  'kubelet-extra-args',
  'kubelet-root-dir',
  'profile',
  'data-dir',
  'cri-socket',
  'iptables-mode',
  'logging',
  'status-socket',
  'api-server',
  'containerd-extra-args',
]);
const switches: ReadonlySet<string> = new Set([
  'enable-cloud-provider',
  'debug',
  'verbose',
  'ignore-pre-flight-checks',
  'force',
  'start',
  'help',
]);

/** An error with the message of k0s. */
export class K0sRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'K0sRefusal';
  }
}

/** Parses the arguments. Throws K0sRefusal. */
export function parseWorkerArguments(args: readonly string[]): WorkerArguments {
  const flags = new Map<string, string>();
  let token: string | undefined;
  for (let index = 0; index < args.length; index++) {
    const word = must(args[index], 'args[index]');
    const match = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word);
    if (!match) {
      token = word;
      continue;
    }
    const [, name = '', given] = match;
    if (!valued.has(name) && !switches.has(name)) throw new K0sRefusal(`unknown flag: --${name}`);
    if (given !== undefined) flags.set(name, given);
    else if (switches.has(name)) flags.set(name, 'true');
    else {
      const next = args[index + 1];
      if (next === undefined) throw new K0sRefusal(`flag needs an argument: --${name}`);
      flags.set(name, next);
      index++;
    }
  }
  return {
    tokenFile: flags.get('token-file'),
    token,
    labels: flags.get('labels'),
    taints: flags.get('taints'),
    kubeletArguments: flags.get('kubelet-extra-args') ?? '',
    hasCloudProvider: flags.get('enable-cloud-provider') === 'true',
    profile: flags.get('profile') ?? 'default',
  };
}

export const unitFile = '/etc/systemd/system/k0sworker.service';

/** Builds the unit that `k0s install worker` writes. */
export function workerUnit(binary: string, args: readonly string[]): string {
  const quoted = args.map((word) => (/[\s"'\\]/.test(word) ? `'${word.replaceAll("'", '"')}'` : word));
  return `[Unit]
Description=k0s - Zero Friction Kubernetes
Documentation=https://docs.k0sproject.io
ConditionFileIsExecutable=${binary}
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${[binary, 'worker', ...quoted].join(' ')}
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
`;
}

/** Returns the arguments of the worker in a unit, or undefined if there is no such unit. */
export function argumentsInUnit(text: string | undefined): string[] | undefined {
  const line = /^ExecStart=(.*)$/m.exec(text ?? '')?.[1];
  if (line === undefined) return undefined;
  return splitWords(line).slice(2);
}
