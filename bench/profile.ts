/** Reads a .cpuprofile and prints where the time went: by function itself, and by function with all it calls. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}

interface Profile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    top: { type: 'string', default: '40' },
    /** also print who calls the functions whose name contains this */
    callers: { type: 'string' },
    /** divide by this many requests: prints microseconds per request */
    per: { type: 'string' },
  },
});
const [file] = positionals;
if (file === undefined)
  throw new Error('usage: npx tsx bench/profile.ts FILE.cpuprofile [--top N] [--callers NAME] [--per REQUESTS]');
const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;

const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const parents = new Map<number, number>();
for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node.id);

const selfTime = new Map<string, number>();
const totalTime = new Map<string, number>();
const callerTime = new Map<string, number>();
const idleNames = new Set(['(idle)', '(program)']);
let busy = 0;
let idle = 0;
for (const [i, id] of profile.samples.entries()) {
  const time = profile.timeDeltas[i] ?? 0;
  const node = nodes.get(id)!;
  const name = nameOf(node);
  if (idleNames.has(name)) {
    idle += time;
    if (name === '(idle)') continue;
  } else busy += time;
  add(selfTime, name, time);
  const seen = new Set<string>();
  for (let at: ProfileNode | undefined = node; at; at = nodes.get(parents.get(at.id) ?? -1)) {
    const each = nameOf(at);
    if (seen.has(each)) continue;
    seen.add(each);
    add(totalTime, each, time);
  }
  if (values.callers !== undefined) addCallers(node, time, values.callers);
}

process.stdout.write(
  `${basename(file)}: busy ${(busy / 1e6).toFixed(2)} s, idle or native ${(idle / 1e6).toFixed(2)} s\n\n`,
);
print('self', selfTime);
print('with callees', totalTime);
if (values.callers !== undefined) print(`callers of ${values.callers}`, callerTime);

function nameOf(node: ProfileNode): string {
  const { functionName, url, lineNumber } = node.callFrame;
  const name = functionName === '' ? '(anonymous)' : functionName;
  return url === '' ? name : `${name} ${basename(url)}:${lineNumber + 1}`;
}

function add(map: Map<string, number>, key: string, time: number): void {
  map.set(key, (map.get(key) ?? 0) + time);
}

function addCallers(node: ProfileNode, time: number, wanted: string): void {
  for (let at: ProfileNode | undefined = node; at; at = nodes.get(parents.get(at.id) ?? -1)) {
    if (!nameOf(at).includes(wanted)) continue;
    const path: string[] = [];
    let up: ProfileNode | undefined = nodes.get(parents.get(at.id) ?? -1);
    for (let depth = 0; up && depth < 4; depth++, up = nodes.get(parents.get(up.id) ?? -1)) path.push(nameOf(up));
    add(callerTime, path.join(' < '), time);
    return;
  }
}

function print(title: string, times: Map<string, number>): void {
  const per = values.per === undefined ? undefined : Number(values.per);
  process.stdout.write(`${title}\n`);
  const sorted = [...times].sort((a, b) => b[1] - a[1]).slice(0, Number(values.top));
  for (const [name, time] of sorted) {
    const share = `${((time / busy) * 100).toFixed(1)}%`.padStart(6);
    const cost = per === undefined ? `${(time / 1000).toFixed(0)} ms` : `${(time / per).toFixed(1)} us`;
    process.stdout.write(`  ${share} ${cost.padStart(9)}  ${name}\n`);
  }
  process.stdout.write('\n');
}
