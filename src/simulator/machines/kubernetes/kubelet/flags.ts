import type { Taint } from '../../../../api/index.ts';
import type { Disk } from '../../types.ts';
import type { Argument } from '../kubeadm/documents.ts';
import { paths } from '../kubeadm/names.ts';

const variable = 'KUBELET_KUBEADM_ARGS';

/** Writes kubeadm's arguments for the kubelet into the environment file of its unit. */
export function writeKubeletFlags(disk: Disk, flags: readonly Argument[]): void {
  const line = flags.map(([name, value]) => `--${name}=${value}`).join(' ');
  disk.write(paths.kubeletFlags, `${variable}="${line.replaceAll('"', '\\"')}"\n`, 0o644);
}

/** Reads the kubelet's arguments like systemd: split at spaces, without quotes. */
export function readKubeletFlags(disk: Disk): ReadonlyMap<string, string> {
  const text = disk.read(paths.kubeletFlags) ?? '';
  const content = /^KUBELET_KUBEADM_ARGS="?((?:[^"\\\n]|\\.)*)"?\s*$/m.exec(text)?.[1] ?? '';
  return parseKubeletArguments(content.replaceAll('\\"', '"'));
}

/** Parses arguments in one string, from a unit or a flag of k0s. */
export function parseKubeletArguments(text: string): Map<string, string> {
  const flags = new Map<string, string>();
  for (const word of splitWords(text)) {
    const match = /^--?([^=]+)(?:=(.*))?$/s.exec(word);
    if (match) flags.set(match[1] ?? '', match[2] ?? 'true');
  }
  return flags;
}

/** Splits at spaces and removes quotes, like a shell. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word = '';
  let isOpen = false;
  let quote = '';
  for (const character of text) {
    if (quote !== '') {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      isOpen = true;
    } else if (character === ' ' || character === '\t') {
      if (isOpen) words.push(word);
      word = '';
      isOpen = false;
    } else {
      word += character;
      isOpen = true;
    }
  }
  if (isOpen) words.push(word);
  return words;
}

/** Parses `a=b,c=d`, the format of --node-labels. */
export function parseLabels(text: string | undefined): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const item of (text ?? '').split(',')) {
    const mark = item.indexOf('=');
    const key = (mark < 0 ? item : item.slice(0, mark)).trim();
    if (key !== '') labels[key] = mark < 0 ? '' : item.slice(mark + 1).trim();
  }
  return labels;
}

export function formatTaint({ key, value, effect }: Taint): string {
  return `${key}=${value ?? ''}:${effect}`;
}

/** Parses `key=value:effect,key:effect`, the format of --register-with-taints. */
export function parseTaints(text: string | undefined): Taint[] {
  return (text ?? '')
    .split(',')
    .map((item) => /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(item.trim()))
    .flatMap((match) =>
      match ? [{ key: match[1] ?? '', ...(match[2] && { value: match[2] }), effect: match[3] ?? '' }] : [],
    );
}
