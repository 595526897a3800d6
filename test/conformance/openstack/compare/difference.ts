import type { Recorded } from './recorder.ts';

/** Returns the differences between two records of a scenario, one text per request. */
export function differences(real: readonly Recorded[], ours: readonly Recorded[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < Math.max(real.length, ours.length); i++) {
    const [a, b] = [real[i], ours[i]];
    if (!a || !b) {
      found.push(`only on ${a ? 'the real one' : 'ours'}: ${(a ?? b)!.request}`);
      continue;
    }
    const lines: string[] = [];
    if (a.request !== b.request) lines.push(`  asked of ours: ${b.request}`);
    if (a.status !== b.status) lines.push(`  status: ${a.status} real, ${b.status} ours`);
    diff('body', a.body, b.body, lines);
    diff('headers', a.headers, b.headers, lines);
    if (lines.length > 0) found.push(`${a.request}\n${lines.join('\n')}`);
  }
  return found;
}

function diff(path: string, real: unknown, ours: unknown, lines: string[]): void {
  if (Object.is(real, ours)) return;
  if (isContainer(real) && isContainer(ours) && Array.isArray(real) === Array.isArray(ours)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(ours)])) {
      diff(`${path}.${key}`, real[key], ours[key], lines);
    }
    return;
  }
  lines.push(`  ${path}:\n    real: ${show(real)}\n    ours: ${show(ours)}`);
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function show(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}
