// Brings the configuration of CoreDNS forward. The steps are those that change or end what kubeadm's own Corefile has used.

type Version = readonly [number, number, number];

interface Step {
  /** from this version on */
  since: Version;
  change(lines: readonly string[]): string[];
}

const indentOf = (line: string): string => /^\s*/.exec(line)?.[0] ?? '';
const isPlugin = (line: string, name: string): boolean => new RegExp(`^\\s*${name}(\\s|\\{|$)`).test(line);

const steps: readonly Step[] = [
  // `proxy` gave way to `forward`
  { since: [1, 5, 0], change: (lines) => lines.map((line) => line.replace(/^(\s*)proxy(\s+\.\s)/, '$1forward$2')) },
  // readiness moved from `health` into a plugin of its own
  { since: [1, 5, 0], change: addReady },
  { since: [1, 7, 0], change: (lines) => withoutBlock(lines, 'federation') },
  // the options `upstream` and `resyncperiod` of `kubernetes` are refused
  {
    since: [1, 7, 0],
    change: (lines) => lines.filter((line) => !isPlugin(line, 'upstream') && !isPlugin(line, 'resyncperiod')),
  },
];

function addReady(lines: readonly string[]): string[] {
  if (lines.some((line) => isPlugin(line, 'ready'))) return [...lines];
  const at = lines.findIndex((line) => isPlugin(line, 'kubernetes'));
  if (at < 0) return [...lines];
  return [...lines.slice(0, at), `${indentOf(lines[at] ?? '')}ready`, ...lines.slice(at)];
}

function withoutBlock(lines: readonly string[], name: string): string[] {
  const kept: string[] = [];
  let depth = 0;
  for (const line of lines) {
    if (depth > 0 || isPlugin(line, name)) {
      depth += line.split('{').length - line.split('}').length;
      continue;
    }
    kept.push(line);
  }
  return kept;
}

/** The Corefile as the target version reads it, saying what it said before. */
export function migrateCorefile(corefile: string, from: Version, to: Version): string {
  let lines = corefile.split('\n');
  for (const { since, change } of steps) {
    if (isOlder(from, since) && !isOlder(to, since)) lines = change(lines);
  }
  return lines.join('\n');
}

/** The numbers of an image tag; undefined when it has none. */
export function tagVersion(tag: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(tag);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : undefined;
}

export function isOlder(a: Version, b: Version): boolean {
  return (a[0] - b[0] || a[1] - b[1] || a[2] - b[2]) < 0;
}
