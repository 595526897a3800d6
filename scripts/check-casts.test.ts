import { describe, expect, it } from 'vitest';
import { runOn } from './testing/made-up-tree.ts';

const cast = 'export const x = y as unknown as X;\n';
const check = (casts: number) =>
  runOn({ 'src/room/a.ts': cast.repeat(casts), 'src/room/notes.md': cast.repeat(100) }, 'check-casts.mjs');

describe('the check of casts', () => {
  it('fails where there are more of them than the ceiling, and says where', () => {
    const { status, lines } = check(1000);
    expect(status).toBe(1);
    const ceiling = Number(/^1000 casts "as unknown as" in src, at most (\d+) are allowed:$/.exec(lines[0]!)?.[1]);
    expect(ceiling).toBeLessThan(40);
    expect(check(ceiling)).toEqual({ status: 0, lines: [] });
    const over = check(ceiling + 1);
    expect(over.status).toBe(1);
    expect(over.lines.slice(1)).toEqual(
      Array.from({ length: ceiling + 1 }, (_, line) => `  src/room/a.ts:${line + 1}`),
    );
  });

  it('counts every cast of a line', () => {
    const { lines } = runOn({ 'src/a.ts': 'f(x as unknown as X, y as unknown as Y);\n'.repeat(50) }, 'check-casts.mjs');
    expect(lines[0]).toMatch(/^100 casts /);
  });
});
