import type { Taint } from '../../../../api/index.ts';
import type { Disk } from '../../types.ts';
import type { Argument } from '../kubeadm/documents.ts';
import { paths } from '../kubeadm/names.ts';

const variable = 'KUBELET_KUBEADM_ARGS';

/** Writes the arguments kubeadm gives the kubelet into the file its unit reads. */
export function writeKubeletFlags(disk: Disk, flags: readonly Argument[]): void {
  const line = flags.map(([name, value]) => `--${name}=${value}`).join(' ');
  disk.write(paths.kubeletFlags, `${variable}="${line.replaceAll('"', '\\"')}"\n`, 0o644);
}

/** The kubelet's arguments as systemd hands them over: split at spaces, quotes taken off. */
export function readKubeletFlags(disk: Disk): ReadonlyMap<string, string> {
  const text = disk.read(paths.kubeletFlags) ?? '';
  const content = /^KUBELET_KUBEADM_ARGS="?((?:[^"\\\n]|\\.)*)"?\s*$/m.exec(text)?.[1] ?? '';
  return parseKubeletArguments(content.replaceAll('\\"', '"'));
}

/** Arguments in one text, as a unit or a flag of k0s has them. */
export function parseKubeletArguments(text: string): Map<string, string> {
  const flags = new Map<string, string>();
  for (const word of splitWords(text)) {
    const match = /^--?([^=]+)(?:=(.*))?$/s.exec(word);
    if (match) flags.set(match[1] ?? '', match[2] ?? 'true');
  }
  return flags;
}

/** Words as a shell sees them: divided by spaces, without their quotes. */
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

/** `a=b,c=d`, the form of --node-labels */
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

/** `key=value:effect,key:effect`, the form of --register-with-taints */
export function parseTaints(text: string | undefined): Taint[] {
  return (text ?? '')
    .split(',')
    .map((item) => /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(item.trim()))
    .flatMap((match) =>
      match ? [{ key: match[1] ?? '', ...(match[2] && { value: match[2] }), effect: match[3] ?? '' }] : [],
    );
}
