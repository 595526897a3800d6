import { describe, expect, it, vi } from 'vitest';
import { superlinearText } from '../../scripts/testing/regexp-steps.ts';

// Here, because it replaces a global that unit tests share. scripts/regular-expressions.test.ts reads the literals.
describe('the regular expressions of the program', () => {
  it('take linear time when they are built at the start of the program', async () => {
    const made: RegExp[] = [];
    const original = globalThis.RegExp;
    const record = (source: string | RegExp, flags?: string): RegExp => {
      const expression = new original(source, flags);
      made.push(expression);
      return expression;
    };
    globalThis.RegExp = new Proxy(original, {
      construct: (_, [source, flags]: [string, string?]) => record(source, flags),
      apply: (_, __, [source, flags]: [string, string?]) => record(source, flags),
    });
    try {
      vi.resetModules();
      await import('../../src/machinery/index.ts');
      await import('../../src/api/index.ts');
    } finally {
      globalThis.RegExp = original;
    }
    expect(made.length).toBeGreaterThan(10);
    const slow = made.filter((expression) => superlinearText(expression) !== undefined);
    expect(slow.map(String)).toEqual([]);
  });
});
