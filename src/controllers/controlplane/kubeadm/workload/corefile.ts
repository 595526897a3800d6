// Corefile migration. Covers the changes and removals that affect kubeadm's own Corefiles.

type Version = readonly [number, number, number];

interface Step {
  /** first CoreDNS version with the change */
  since: Version;
  change(lines: readonly string[]): string[];
}

const indentOf = (line: string): string => /^\s*/.exec(line)?.[0] ?? '';
const isPlugin = (line: string, name: string): boolean => new RegExp(`^\\s*${name}(\\s|\\{|$)`).test(line);

const steps: readonly Step[] = [
  // `forward` replaced `proxy`
  { since: [1, 5, 0], change: (lines) => lines.map((line) => line.replace(/^(\s*)proxy(\s+\.\s)/, '$1forward$2')) },
  // readiness moved from `health` to the `ready` plugin
  { since: [1, 5, 0], change: addReady },
  { since: [1, 7, 0], change: (lines) => withoutBlock(lines, 'federation') },
  // the `upstream` and `resyncperiod` options of `kubernetes` were removed
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

/** Converts a Corefile to an equivalent one for the target version. */
export function migrateCorefile(corefile: string, from: Version, to: Version): string {
  let lines = corefile.split('\n');
  for (const { since, change } of steps) {
    if (isOlder(from, since) && !isOlder(to, since)) lines = change(lines);
  }
  return lines.join('\n');
}

/** Parses the version of an image tag; undefined if it has none. */
export function tagVersion(tag: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(tag);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : undefined;
}

export function isOlder(a: Version, b: Version): boolean {
  return (a[0] - b[0] || a[1] - b[1] || a[2] - b[2]) < 0;
}
