import { describe, expect, test } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { chartFunctions, type Limits, parseTemplates, type Result, toTemplateValue } from './index.ts';

function render(text: string, limits: Partial<Limits> = {}): Result<string> {
  const set = parseTemplates([{ name: 'tenant.yaml', text }], { functions: chartFunctions });
  if (!set.ok) return set;
  return set.value.render('tenant.yaml', toTemplateValue({ s: 'x' }), { limits, clock: new ManualClock() });
}

/** Each needs unbounded memory or time. */
const attacks: readonly (readonly [string, string, string])[] = [
  ['a loop in a loop', '{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}', 'more than 2000000 steps'],
  ['a long list', '\n{{ until 100000000 }}', 'more than 2000000 steps'],
  ['a long sequence', '{{ seq 1 1 100000000 }}', 'more than 2000000 steps'],
  ['a repeated string', '{{ repeat 1000000000 "abc" }}', 'a text of more than 16777216 characters'],
  ['an indent', '{{ nindent 1000000000 "abc" }}', 'a text of more than 16777216 characters'],
  ['many indents', '{{ indent 100000 (repeat 10000 "\\n") }}', 'a text of more than 16777216 characters'],
  [
    'a doubling string',
    '{{ $s := "ab" }}{{ range 64 }}{{ $s = print $s $s }}{{ end }}',
    'a text of more than 16777216 characters',
  ],
  [
    'a replacement that grows',
    '{{ replace "a" (repeat 100000 "b") (repeat 100000 "a") }}',
    'a text of more than 16777216 characters',
  ],
  ['much output', '{{ range 40 }}{{ repeat 1000000 "a" }}{{ end }}', 'more than 16777216 characters of output'],
  [
    'a template that calls itself',
    '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
    'nested more than 300 levels deep',
  ],
  [
    'a template that includes itself',
    '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
    'nested more than 300 levels deep',
  ],
  [
    'a text that evaluates itself',
    '{{ tpl "{{ tpl .s . }}" (dict "s" "{{ tpl .s . }}") }}',
    'nested more than 300 levels deep',
  ],
  [
    'a dict that holds itself',
    '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}',
    'a text of more than 16777216 characters',
  ],
  ['a costly expression', '{{ regexFind "(a?){200}a{200}b" (repeat 100000 "a") }}', 'takes too many steps'],
  [
    'a long expression',
    '{{ regexMatch (repeat 20000 "a") "a" }}',
    'a regular expression of more than 10000 characters',
  ],
  ['many values', '{{ $l := list 1 }}{{ range 64 }}{{ $l = concat $l $l }}{{ end }}', 'more than 2000000 steps'],
  [
    'equal values that share parts',
    '{{ $a := list 1 }}{{ $b := list 1 }}{{ range 64 }}{{ $a = list $a $a }}{{ $b = list $b $b }}{{ end }}{{ deepEqual $a $b }}',
    'more than 2000000 steps',
  ],
  [
    'values that share parts',
    '{{ $l := list 1 }}{{ range 64 }}{{ $l = list $l $l }}{{ end }}{{ toJson $l }}',
    'more than 2000000 steps',
  ],
];

describe('limits of templates', () => {
  test.each(attacks)('end %s with an error that names template and line', (_title, text, wanted) => {
    const result = render(text);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.error.isLimit).toBe(true);
    expect(result.error.message).toContain(wanted);
    expect(result.error.message).toMatch(/^template: (tenant\.yaml|gotpl):[0-9]+:[0-9]+: executing /);
  });

  test('report the line of the expression', () => {
    const result = render('a\nb\n  {{ until 100000000 }}');
    expect(result.ok ? '' : result.error.message).toBe(
      'template: tenant.yaml:3:5: executing "tenant.yaml" at <until 100000000>: more than 2000000 steps',
    );
  });

  test('refuse a wide field as Go does', () => {
    expect(render('{{ printf "%99999999d" 1 | len }}')).toMatchObject({ ok: true });
    const result = render('{{ range 10000 }}{{ printf "%999999d" 1 | len }}{{ end }}');
    expect(result.ok ? '' : result.error.message).toContain('more than 2000000 steps');
  });

  test('can be lowered by the caller', () => {
    expect(render('{{ range 10 }}x{{ end }}', { steps: 20 })).toMatchObject({ ok: false });
    expect(render('{{ range 10 }}x{{ end }}', { outputCharacters: 9 })).toMatchObject({ ok: false });
    expect(render('{{ if 1 }}{{ if 1 }}x{{ end }}{{ end }}', { depth: 2 })).toMatchObject({ ok: false });
    expect(render('{{ range 10 }}x{{ end }}', { steps: 200, outputCharacters: 10, depth: 3 })).toMatchObject({
      ok: true,
      value: 'xxxxxxxxxx',
    });
  });

  test('turn more depth than the engine has into an error', () => {
    const recursion = '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}';
    expect(render(recursion, { depth: 1_000_000 })).toMatchObject({ ok: false, error: { isLimit: true } });
  });

  test('refuse endless nesting of blocks and parentheses when they are parsed', () => {
    expect(render('{{ if 1 }}'.repeat(10_000))).toMatchObject({ ok: false });
    expect(render(`{{ ${'('.repeat(10_000)}`)).toMatchObject({ ok: false });
    expect(render(`${'{{ if 1 }}'.repeat(200)}x${'{{ end }}'.repeat(200)}`)).toMatchObject({ ok: true, value: 'x' });
  });
});
