import { must } from '../../../../machinery/index.ts';
import { KubeadmFailure } from './failure.ts';

/** A parsed kubeadm command line. */
export interface KubeadmCommand {
  readonly words: readonly string[];
  readonly flags: ReadonlyMap<string, string>;
}

/** flags without a value */
const switches = new Set([
  'v',
  'upload-certs',
  'dry-run',
  'help',
  'h',
  'control-plane',
  'skip-token-print',
  'force',
  'f',
]);
/** supported flags of init and join */
const known = new Set([
  ...switches,
  'config',
  'skip-phases',
  'ignore-preflight-errors',
  'rootfs',
  'patches',
  'add-dir-header',
  'log-file',
  'node-name',
  'cri-socket',
  'token',
  'discovery-token-ca-cert-hash',
  'discovery-token-unsafe-skip-ca-verification',
  'apiserver-advertise-address',
  'apiserver-bind-port',
  'control-plane-endpoint',
  'kubernetes-version',
  'pod-network-cidr',
  'service-cidr',
  'image-repository',
  'output',
  'o',
]);

/** Parses a command line. Throws kubeadm's error for unknown flags. */
export function parseCommand(args: readonly string[]): KubeadmCommand {
  const words: string[] = [];
  const flags = new Map<string, string>();
  for (let index = 0; index < args.length; index++) {
    const word = must(args[index], 'args[index]');
    const match = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word);
    if (!match) {
      words.push(word);
      continue;
    }
    const name = match[1] ?? '';
    if (!known.has(name)) throw new KubeadmFailure(undefined, `unknown flag: --${name}`);
    const isSwitch = switches.has(name) && name !== 'v';
    const next = args[index + 1];
    if (match[2] !== undefined) flags.set(name, match[2]);
    else if (isSwitch || next === undefined) flags.set(name, 'true');
    else {
      flags.set(name, next);
      index++;
    }
  }
  return { words, flags };
}
