import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseWithLibrary } from './yaml-parse.ts';
import { parsePlainYaml } from './yaml-plain.ts';
import { parsePlainDocuments } from './yaml-plain-documents.ts';
import { resolvePlainScalar } from './yaml-scalar.ts';

const scalar = (text: string) => resolvePlainScalar(text, 'keep');

/** Returns the only document of a text as the library parses it, or the error. */
function byLibrary(text: string): unknown {
  try {
    const documents = parseWithLibrary(text, scalar);
    return documents.length > 1 ? 'several documents' : (documents[0]?.value ?? null);
  } catch (error) {
    return `refused: ${String(error)}`;
  }
}

/** Fragments of lines that exercise interactions of YAML rules. */
const pieces = [
  ...[
    'a',
    'b: ',
    'key:',
    ': ',
    ':',
    '- ',
    '-',
    '  ',
    ' ',
    '\n',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
    '# c',
    ' # c',
    '#',
  ],
  ...['"q"', "'s'", '"a\\n"', "'it''s'", '"', "'", '[', ']', '{', '}', '[1, x]', '{a: 1, b: [2]}', ', ', ','],
  ...[
    '|',
    '>',
    '|-',
    '>-',
    '|+',
    '|\n',
    '>\n',
    '\n\n',
    '? ',
    '&x ',
    '*x',
    '!!str ',
    '<<: ',
    '---',
    '\n---\n',
    '...',
    '%',
  ],
  ...[
    '1',
    '01',
    '0x1f',
    'true',
    'yes',
    'null',
    '~',
    '.inf',
    '1e3',
    '12345678901234567890',
    'ü',
    '\t',
    '\\',
    'x: y',
    ':80',
  ],
];

describe('the reader of plain YAML', () => {
  it('gives up or reads the same as the library', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (parts) => {
        const text = parts.join('');
        const read = parsePlainYaml(text, scalar);
        if (read) expect(read.value).toEqual(byLibrary(text));
      }),
      { numRuns: Number(process.env['CAPSTAN_FUZZ_RUNS'] ?? 3_000) },
    );
  });

  it.each([
    'a: 1\nb:\n  - x\n  - k: 2\n    z: [1, "2", {k: v}]\nc:\n- d\n',
    'text: |\n  one\n\n   two\n  three\nfolded: >-\n  a\n  b\n\n  c\nlast: x # note\n',
    "long: a text\n  over lines\n\n  with a break\nquoted: \"a\n  b\"\nsingle: 'it''s'\n",
    '# head\n---\n"key": :80\nurl: http://a/b#c\nempty:\nnone: {}\nlist: []\n',
    '- - 1\n  - 2\n-\n  a: 1\n- |\n x\n',
    'keep: |\n  a\nstrip: |-\n  a\n\nnext: 1',
  ])('reads %j without the library', (text) => {
    const read = parsePlainYaml(text, scalar);
    expect(read).toBeDefined();
    expect(read?.value).toEqual(byLibrary(text));
  });

  it.each(['a: &x 1', 'a: *x', 'a: !!str 1', 'a: 1\na: 2', '1: x', '? a\n: b', 'a: 1\n---\nb: 2', 'a:\tb', 'a: b: c'])(
    'leaves %j to the library',
    (text) => {
      expect(parsePlainYaml(text, scalar)).toBeUndefined();
    },
  );
});

describe('the reader of plain YAML with several documents', () => {
  /** Documents as the library reads them, without line numbers of those that are empty. */
  const shown = (documents: readonly { value: unknown; line: number }[]): unknown[] =>
    documents.map(({ value, line }) => (value === null ? null : { value, line }));
  const byTheLibrary = (text: string): unknown => {
    try {
      return shown(parseWithLibrary(text, scalar));
    } catch (error) {
      return `refused: ${String(error)}`;
    }
  };

  it('gives up or reads the same as the library', () => {
    const document = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(''));
    const joint = fc.constantFrom('\n---\n', '---\n', '\n--- \n', '\n---\n---\n', '\n---', '\n--- # c\n', '\n...\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(document, joint), { maxLength: 4 }), (parts) => {
        const text = parts.flat().join('');
        const read = parsePlainDocuments(text, scalar);
        if (read?.some(({ value }) => value !== null)) expect(shown(read)).toEqual(byTheLibrary(text));
      }),
      { numRuns: Number(process.env['CAPSTAN_FUZZ_RUNS'] ?? 3_000) },
    );
  });

  it.each([
    'a: 1\n---\nb: 2\n---\nc: 3',
    '# head\n---\na: 1\n---\n\n# nothing\n---\nb: |\n  text\n---\n- c\n',
    'a: 1\n---\n',
    '---\n---\na: 1\n',
  ])('reads %j without the library', (text) => {
    const read = parsePlainDocuments(text, scalar);
    expect(shown(read ?? [])).toEqual(byTheLibrary(text));
    expect(read).toBeDefined();
  });

  it.each(['a: &x 1\n---\nb: 2', 'a: "x\n---\ny"', '%YAML 1.2\n---\na: 1', 'a: 1\n...\n---\nb: 2'])(
    'leaves %j to the library',
    (text) => {
      expect(parsePlainDocuments(text, scalar)).toBeUndefined();
    },
  );
});
