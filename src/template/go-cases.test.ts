import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type GoCase, runCase } from './testing/go-cases.ts';

interface Recorded {
  readonly values: Readonly<Record<string, string>>;
  readonly cases: readonly GoCase[];
}

const { values, cases } = JSON.parse(
  readFileSync(new URL('./testdata/go-cases.json', import.meta.url), 'utf8'),
) as Recorded;

/** Intentional differences from Go: complex numbers, and two formats of float bits. */
const differences: Readonly<Record<string, string>> = {
  '{{ 3i }}': 'template: t:1: imaginary numbers are not supported: "3i"',
  '{{ 1+2i }}': 'template: t:1: imaginary numbers are not supported: "1+2i"',
  '{{ printf "%b" 1.5 }}': '%!b(float64=1.5)',
  '{{ printf "%#x" 1.5 }}': '0x1.8p+00',
};

const titles = {
  go: 'Go templates with Sprig and the functions of Helm',
  helm: "Helm's engine",
  env: 'shell-style variables',
} as const;

/** Recorded outputs of the real programs for these templates. See the README of the test data. */
describe.each(Object.entries(titles))('%s: the same output or error as the real program for %s', (mode) => {
  const own = cases.filter((given) => given.mode === mode);

  test(`${own.length} recorded cases`, () => {
    expect(own.length).toBeGreaterThan(30);
    const wrong: unknown[] = [];
    for (const given of own) {
      const got = runCase(given, values[given.values] ?? '');
      const text = 'output' in got ? got.output : got.error;
      const difference = differences[given.template];
      const isSame =
        difference === undefined
          ? 'output' in got
            ? got.output === given.output
            : got.error === given.error
          : text === difference;
      if (!isSame) wrong.push({ template: given.template, wanted: given.output ?? given.error, got: text });
    }
    expect(wrong).toEqual([]);
  });
});
