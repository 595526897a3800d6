import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../../machinery/index.ts';
import { parseKubernetesVersion } from '../cluster/version.ts';
import { validateHost, validatePlaneVersionChange, validateSans } from './plane-validation.ts';

describe('a version change', () => {
  const change = (wanted: string, before: string, running = ''): string[] =>
    validatePlaneVersionChange(
      {
        wanted: parseKubernetesVersion(wanted),
        before: parseKubernetesVersion(before),
        running: parseKubernetesVersion(running),
      },
      'spec.version',
    ).map(formatFieldError);

  it.each([
    ['v1.32.6', 'v1.32.5', 'v1.32.5'],
    ['v1.32.0', 'v1.32.6', 'v1.32.6'],
    ['v1.33.0', 'v1.32.6', 'v1.32.6'],
    ['v1.31.0', 'v1.32.0', 'v1.31.0'],
    ['v1.30.0', 'v1.31.0', ''],
    ['latest', 'v1.31.0', 'v1.31.0'],
  ])('to %s from %s is allowed while %j runs', (wanted, before, running) => {
    expect(change(wanted, before, running)).toEqual([]);
  });

  it.each([
    [
      'v1.34.0',
      'v1.32.6',
      'v1.32.6',
      'cannot go from v1.32.6 to v1.34.0: minor versions cannot be skipped, go to v1.33 first',
    ],
    [
      'v1.34.0',
      'v1.33.0',
      'v1.32.6',
      'cannot go from v1.32.6 to v1.34.0: minor versions cannot be skipped, go to v1.33 first',
    ],
    [
      'v1.33.0',
      'v1.31.0',
      '',
      'cannot go from v1.31.0 to v1.33.0: minor versions cannot be skipped, go to v1.32 first',
    ],
    ['v1.31.9', 'v1.32.6', 'v1.32.6', 'cannot go back to v1.31.9: the control plane runs v1.32.6 already'],
  ])('to %s from %s is refused while %j runs', (wanted, before, running, problem) => {
    expect(change(wanted, before, running)).toEqual([`spec.version: Forbidden: ${problem}`]);
  });
});

describe('a certificate name', () => {
  it.each(['example.org', '*.example.org', 'Example.ORG', '192.0.2.1', '2001:db8::1', 'localhost'])(
    'can be %s',
    (san) => {
      expect(validateSans([san], 'sans')).toEqual([]);
    },
  );

  it.each([
    ['https://example.org', ', without scheme, port or path'],
    ['example.org:6443', ', without scheme, port or path'],
    ['a b', ''],
    ['', ''],
    ['*.*.example.org', ''],
    ['300.0.2.1', ''],
    ['under_score.example.org', ''],
  ])('cannot be %j', (san, hint) => {
    expect(validateSans(['ok', san], 'sans').map(formatFieldError)).toEqual([
      `sans[1]: Invalid value: ${JSON.stringify(san)}: must be a DNS name or an IP address${hint}`,
    ]);
  });
});

it.each([
  ['example.org', 0],
  ['192.0.2.1', 0],
  ['', 0],
  ['example.org:443', 1],
  ['1.2.3', 1],
])('validateHost finds in %j this many errors: %d', (host, count) => {
  expect(validateHost(host, 'host')).toHaveLength(count);
});
