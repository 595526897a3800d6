import { describe, expect, it } from 'vitest';
import { runOn, type Tree } from './testing/made-up-tree.ts';

const check = (tree: Tree) => runOn(tree, 'check-words.mjs', { git: true });

describe('the check of words', () => {
  it('fails on each of them, and says where and what to say instead', () => {
    const cases = [
      ['const machineWish = 1;', 'Wish', 'spec or desired'],
      ['// there was trouble', 'troubl', 'fault, failure or error'],
      ['// it is mended', 'mended', 'repair, correct or remediate'],
      ['// changed behind our back', 'behind our back', 'drift, or "by somebody else"'],
      ['behindTheBack();', 'behindTheBack', 'drift, or "by somebody else"'],
      ['goesOnAfterOwn();', 'goesOn', 'continues'],
      ['passOfLife();', 'passOfLife', 'reconcileNormal, reconcileDelete'],
      ['bringIntoBeing();', 'bringIntoBeing', 'ensureExists'],
      ['const nextLookMs = 1;', 'nextLook', 'requeue, recheck or poll'],
      ['clusterMatters();', 'rMatters', 'a predicate named for the change, as in clusterChanged'],
      ['const sightings = [];', 'sighting', 'observedState'],
      ['strangersOf(members);', 'strangersOf', 'likelyNode, unknownMembers'],
    ];
    expect(check({ 'src/a.ts': cases.map(([line]) => line).join('\n') })).toEqual({
      status: 1,
      lines: [
        ...cases.map(([, found, instead], index) => `src/a.ts:${index + 1}: "${found}"; say ${instead}`),
        `${cases.length} words of a private dialect (scripts/check-words.mjs)`,
      ],
    });
  });

  it('looks at sources, pages, settings and scripts', () => {
    const files = ['a.json', 'bin/a.sh', 'charts/a.yaml', 'docs/a.md', 'scripts/a.mjs', 'test/a.tsx'];
    const { lines } = check(Object.fromEntries(files.map((file) => [file, 'a wish\n'])));
    expect(lines.slice(0, -1)).toEqual(files.map((file) => `${file}:1: "wish"; say spec or desired`));
  });

  it('fails on the name of a file', () => {
    const { status, lines } = check({ 'src/wishes.ts': 'export {};\n' });
    expect(status).toBe(1);
    expect(lines[0]).toBe('src/wishes.ts: the name of the file has /wish/i; say spec or desired');
    expect(check({ 'src/behind-the-back.ts': 'export {};\n' }).status).toBe(1);
  });

  it.each<[string, Tree]>([
    ['a line that says why it has the word', { 'a.ts': "const field = 'wish'; // words-ok: a field of theirs\n" }],
    ['words that only look alike', { 'a.ts': '// amend, recommended, it matters\n' }],
    ['what git ignores', { '.gitignore': 'made/\n', 'made/a.ts': '// a wish\n' }],
    ['what is no text of ours', { 'a.bin': 'wish\n', 'package-lock.json': '"wish"\n' }],
  ])('passes %s', (_, tree) => {
    expect(check(tree)).toEqual({ status: 0, lines: [] });
  });
});
