import { describe, expect, test } from 'vitest';
import { ManualClock, seededRandom } from '../machinery/index.ts';
import {
  chartFunctions,
  defineFunction,
  hermeticFunctions,
  Int,
  listVariables,
  parseTemplates,
  substituteVariables,
  toTemplateValue,
} from './index.ts';

function setOf(files: Readonly<Record<string, string>>, functions = chartFunctions) {
  const set = parseTemplates(
    Object.entries(files).map(([name, text]) => ({ name, text })),
    { functions },
  );
  if (!set.ok) throw set.error;
  return set.value;
}

describe('a set of templates', () => {
  test('shares templates among files, and a later definition counts', () => {
    const set = setOf({
      '_a.tpl': '{{ define "x" }}old{{ end }}',
      '_b.tpl': '{{ define "x" }}new{{ end }}',
      m: '{{ include "x" . }}',
    });
    expect(set.render('m', null)).toEqual({ ok: true, value: 'new' });
  });

  test('ignores an empty later definition', () => {
    const set = setOf({
      a: '{{ define "x" }}kept{{ end }}',
      b: '{{ define "x" }}  {{ end }}',
      m: '{{ template "x" }}',
    });
    expect(set.render('m', null)).toEqual({ ok: true, value: 'kept' });
  });

  test('does not change the data of the caller by set', () => {
    const data = { labels: { a: '1' } };
    const set = setOf({ m: '{{ $_ := set .labels "b" "2" }}{{ .labels }}' });
    expect(set.render('m', toTemplateValue(data))).toEqual({ ok: true, value: 'map[a:1 b:2]' });
    expect(data).toEqual({ labels: { a: '1' } });
  });

  test('treats keys with names of JavaScript members as plain keys', () => {
    const data = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}');
    const set = setOf({ m: '{{ .toString }}|{{ .constructor }}|{{ index . "__proto__" }}|{{ toYaml . }}' });
    expect(set.render('m', toTemplateValue(data))).toEqual({
      ok: true,
      value: '<no value>|2|map[x:1]|__proto__:\n  x: 1\nconstructor: 2',
    });
  });

  test('uses the clock and the random source of the caller', () => {
    const set = setOf({ m: '{{ now | date "2006-01-02" }} {{ uuidv4 | len }} {{ randAlphaNum 5 | len }}' });
    const clock = new ManualClock(Date.UTC(2031, 4, 6));
    expect(set.render('m', null, { clock, random: seededRandom(4) })).toEqual({ ok: true, value: '2031-05-06 36 5' });
  });

  test('has no random values without a random source', () => {
    const result = setOf({ m: '{{ uuidv4 }}' }).render('m', null);
    expect(result.ok ? '' : result.error.message).toContain('templates here may not use random values');
  });

  test('uses the lookup function of the caller', () => {
    const lookup = defineFunction('string, string, string, string', ([, kind]) => new Map([['kind', kind]]));
    const set = setOf({ m: '{{ (lookup "v1" "Secret" "ns" "a").kind }}' });
    expect(set.render('m', null)).toEqual({ ok: true, value: '<no value>' });
    expect(set.render('m', null, { functions: { lookup } })).toEqual({ ok: true, value: 'Secret' });
  });

  test('may name a key-making function, and call it when the caller passes one', () => {
    const text = '{{ if .make }}{{ genCA "ca" 365 }}{{ else }}none{{ end }}';
    const set = setOf({ m: text });
    expect(set.render('m', toTemplateValue({ make: false }))).toEqual({ ok: true, value: 'none' });
    const refused = set.render('m', toTemplateValue({ make: true }));
    expect(refused.ok ? '' : refused.error.message).toContain('error calling genCA: genCA is not available here');
    const genCA = defineFunction('string, int', ([name]) => `made ${String(name)}`);
    const made = set.render('m', toTemplateValue({ make: true }), { functions: { genCA } });
    expect(made).toEqual({ ok: true, value: 'made ca' });
  });

  test('reports the text of fail separately beside the whole message', () => {
    const set = setOf({
      'a.yaml': 'x\n{{ include "inner" . }}',
      '_b.tpl': '{{ define "inner" }}{{ fail "set a size" }}{{ end }}',
    });
    const result = set.render('a.yaml', null);
    expect(result).toMatchObject({ ok: false, error: { said: 'set a size', place: 'a.yaml:2:3', isLimit: false } });
  });

  test('has no clock, randomness and environment in hermetic functions', () => {
    for (const name of ['now', 'uuidv4', 'randAlphaNum', 'env', 'include', 'lookup']) {
      expect(Object.keys(hermeticFunctions)).not.toContain(name);
    }
    const result = parseTemplates([{ name: 't', text: '{{ now }}' }], { functions: hermeticFunctions });
    expect(result.ok ? '' : result.error.message).toBe('template: t:1: function "now" not defined');
  });

  test('treats integers of --set as integers and those of files as floats', () => {
    const set = setOf({ m: '{{ .n }}' });
    expect(set.render('m', toTemplateValue({ n: 1_000_000 }))).toEqual({ ok: true, value: '1e+06' });
    expect(set.render('m', toTemplateValue({ n: 1_000_000 }, 'int64'))).toEqual({ ok: true, value: '1000000' });
    expect(toTemplateValue({ n: 2 }, 'int64')).toEqual(new Map([['n', new Int(2n, 'int64')]]));
  });
});

/** Writes `${NAME}` without the syntax of JavaScript templates. */
const shell = (text: string): string => text.replaceAll('@{', '${');

describe('shell-style variables', () => {
  const text = shell('a: @{ NAME }\nb: @{COUNT:=3}\nc: @{KIND:-@{OTHER}-x}\nd: @{NAME}\ne: $@{KEPT}\n');

  test('are listed with their defaults', () => {
    const listed = listVariables(text);
    expect(listed).toEqual({
      ok: true,
      value: new Map([
        ['COUNT', '3'],
        ['KIND', shell('@{OTHER}-x')],
        ['NAME', undefined],
      ]),
    });
  });

  test('are replaced by values and defaults', () => {
    const known = new Map([
      ['NAME', 'n1'],
      ['OTHER', 'o'],
    ]);
    expect(substituteVariables(text, (name) => known.get(name))).toEqual({
      ok: true,
      value: shell('a: n1\nb: 3\nc: o-x\nd: n1\ne: @{KEPT}\n'),
    });
  });

  test('are reported when they have neither value nor default', () => {
    const result = substituteVariables(shell('@{B} @{A} @{C:-1}'), () => undefined);
    expect(result.ok ? '' : result.error.message).toBe(
      'value for variables [A, B] is not set. Please set the value using os environment variables or the clusterctl config file',
    );
  });

  test('refuse a text that cannot be parsed', () => {
    const result = substituteVariables(shell('@{A'), () => 'x');
    expect(result.ok ? '' : result.error.message).toBe('missing closing brace');
  });
});
