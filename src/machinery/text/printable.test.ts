import { describe, expect, it } from 'vitest';
import { printable, printableJson, printableLine } from './printable.ts';

describe('text from others', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['the title of the window', '\u001b]0;owned\u0007b', 'b'],
    ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['the clipboard', 'a\u001b]52;c;cm0gLXJm\u0007b', 'ab'],
    ['one-character introducers', '\u009b31mred \u009d0;t\u0007x', 'red x'],
    ['an escape that never ends', 'a\u001b]0;rest', 'a0;rest'],
    ['a lone escape at the end', 'a\u001b', 'a'],
    ['a line written over', 'good\rbad\b\u007f', 'goodbad'],
    ['text turned around', 'a\u202eb\u2066c', 'abc'],
    ['what is harmless', 'Größe 3 µs\n\t* ✓', 'Größe 3 µs\n\t* ✓'],
  ])('is printed without %s', (_what, text, left) => {
    expect(printable(text)).toBe(left);
  });

  it('is cleaned in time proportional to its length', () => {
    const steps = (text: string): number => printable(text).length;
    expect(steps('\u001b]'.repeat(200_000))).toBe(0);
    expect(steps('\u001b['.repeat(200_000))).toBe(0);
  });

  it('fits on a line', () => {
    expect(printableLine('a \n\t b\r\nc')).toBe('a b c');
  });

  it('remains the same value in JSON, without control characters', () => {
    const value = { a: '\u001b[31m\u009b31m\u202e ok' };
    const json = printableJson(JSON.stringify(value));
    expect(JSON.parse(json)).toEqual(value);
    expect(json).toMatch(/^[ -~]+$/);
  });
});
