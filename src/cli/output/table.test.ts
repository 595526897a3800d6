import { describe, expect, it } from 'vitest';
import { paint, span } from './colour.ts';
import { renderTable } from './table.ts';

describe('foreign text in a table', () => {
  it('loses its control sequences while the colours of the table stay', () => {
    expect(paint([span('a\u001b[2Jb', 'good')], { colour: true })).toBe('\u001b[32mab\u001b[0m');
    expect(renderTable(['NAME', 'X'], [[[span('a\u001b[31m')], [span('b')]]], { colour: false })).toBe(
      'NAME  X\na     b\n',
    );
  });
});
