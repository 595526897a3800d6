import { describe, expect, it } from 'vitest';
import { compareKubernetesVersions, parseKubernetesVersion, withLeadingV } from './kubernetes-version.ts';

describe('versions of Kubernetes', () => {
  it.each([
    ['v1.31.2', [1, 31, 2, '']],
    ['v0.0.0', [0, 0, 0, '']],
    ['v1.33.0-rc.1', [1, 33, 0, '-rc.1']],
    ['v1.33.0+build.7', [1, 33, 0, '+build.7']],
    ['v1.32.6+k0s.0', [1, 32, 6, '+k0s.0']],
  ])('%s is read as a version', (text, [major, minor, patch, suffix]) => {
    expect(parseKubernetesVersion(text)).toEqual({ major, minor, patch, suffix });
  });

  it.each([
    '',
    'v',
    '1.31.2',
    'v1.31',
    'v1',
    'v1.31.2.x y',
    'v01.2.3',
    'v1.02.3',
    'v1.2.3\n',
    ' v1.2.3',
    'V1.2.3',
    'v1.-2.3',
    'latest',
  ])('%j is not a version', (text) => {
    expect(parseKubernetesVersion(text)).toBeUndefined();
  });

  it('may lack the v where that is allowed', () => {
    expect(parseKubernetesVersion(withLeadingV('1.31.2'))).toEqual(parseKubernetesVersion(withLeadingV('v1.31.2')));
  });

  it('are ordered by their numbers', () => {
    const sorted = ['v1.10.0', 'v1.9.12', 'v1.9.2', 'v2.0.0'].sort((a, b) =>
      compareKubernetesVersions(parseKubernetesVersion(a)!, parseKubernetesVersion(b)!),
    );
    expect(sorted).toEqual(['v1.9.2', 'v1.9.12', 'v1.10.0', 'v2.0.0']);
  });
});
