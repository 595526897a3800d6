import { describe, expect, it } from 'vitest';
import { formatImage, imageProblem, parseImage } from './image-reference.ts';
import {
  desiredK0sVersion,
  k0sImage,
  k0sTagOf,
  k0sVersionOf,
  kubernetesVersionOfK0s,
  parseK0sVersion,
  spelledLike,
} from './k0s-version.ts';

describe('a version of k0s', () => {
  it.each([
    ['v1.32.6+k0s.0', 'v1.32.6+k0s.0', 'v1.32.6-k0s.0'],
    ['v1.32.6-k0s.0', 'v1.32.6+k0s.0', 'v1.32.6-k0s.0'],
    ['1.32.6+k0s.1', 'v1.32.6+k0s.1', 'v1.32.6-k0s.1'],
    ['v1.32.6', 'v1.32.6+k0s.0', 'v1.32.6-k0s.0'],
    ['1.32.6', 'v1.32.6+k0s.0', 'v1.32.6-k0s.0'],
    ['v1.33.0-rc.1+k0s.0', 'v1.33.0-rc.1+k0s.0', 'v1.33.0-rc.1-k0s.0'],
    ['v1.33.0-beta.2-k0s.3', 'v1.33.0-beta.2+k0s.3', 'v1.33.0-beta.2-k0s.3'],
  ])('%s is written %s for k0s and %s as an image tag', (written, version, tag) => {
    expect(k0sVersionOf(written)).toBe(version);
    expect(k0sTagOf(written)).toBe(tag);
    expect(k0sVersionOf(tag)).toBe(version);
  });

  it.each(['latest', '', 'v1.32', 'v1', 'main-k0s.0'])('is not parsed from %j, which stays unchanged', (text) => {
    expect(parseK0sVersion(text)).toBeUndefined();
    expect(k0sVersionOf(text)).toBe(text);
    expect(k0sTagOf(text)).toBe(text);
  });

  it('contains the Kubernetes version', () => {
    expect(kubernetesVersionOfK0s('1.32.6-k0s.4')).toBe('v1.32.6');
    expect(parseK0sVersion('v1.32.6+k0s.4')).toEqual({ major: 1, minor: 32, patch: 6, suffix: '', release: '4' });
  });

  it.each([
    ['v1.32.6+k0s.0', 'v1.32.6-k0s.0', 'v1.32.6-k0s.0'],
    ['v1.32.6+k0s.0', 'v1.32.6+k0s.0', 'v1.32.6+k0s.0'],
    ['v1.32.6+k0s.0', 'v1.32.6', 'v1.32.6+k0s.0'],
    ['v1.32.6+k0s.0', undefined, 'v1.32.6+k0s.0'],
  ])('reported as %s is shown to a user who wrote %s as %s', (reported, desired, shown) => {
    expect(spelledLike(reported, desired)).toBe(shown);
  });
});

describe('the desired k0s version', () => {
  it.each([
    [{ version: '1.32.6' }, 'v1.32.6+k0s.0'],
    [{ image: 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0' }, 'v1.32.6+k0s.0'],
    [{ image: 'ghcr.io/k0sproject/k0s:v1.31.0-k0s.0', version: 'v1.32.6' }, 'v1.32.6+k0s.0'],
    [{ image: 'localhost:5000/k0s', version: '' }, undefined],
    [{}, undefined],
  ])('for the spec %j is %s', (spec, version) => {
    expect(desiredK0sVersion(spec)).toBe(version);
  });
});

describe('the k0s image', () => {
  it.each([
    [{ image: 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0' }, 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0'],
    [{ image: 'ghcr.io/k0sproject/k0s', version: 'v1.32.6+k0s.0' }, 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0'],
    [{ image: 'ghcr.io/k0sproject/k0s:v1.31.0-k0s.0', version: '1.32.6' }, 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0'],
    [{ version: 'v1.32.6' }, 'quay.io/k0sproject/k0s:v1.32.6-k0s.0'],
    [{ image: 'localhost:5000/k0s', version: 'v1.32.6' }, 'localhost:5000/k0s:v1.32.6-k0s.0'],
    [{ image: 'k0s@sha256:0123', version: 'v1.32.6' }, 'k0s@sha256:0123'],
    [{}, 'quay.io/k0sproject/k0s:v1.27.9-k0s.0'],
  ])('for the spec %j is %s', (spec, image) => {
    expect(k0sImage(spec, 'v1.27.9+k0s.0')).toBe(image);
  });
});

describe('an image name', () => {
  it.each([
    ['nginx', { repository: 'nginx' }],
    ['nginx:1.19', { repository: 'nginx', tag: '1.19' }],
    ['localhost:5000/a/b', { repository: 'localhost:5000/a/b' }],
    ['localhost:5000/a/b:c', { repository: 'localhost:5000/a/b', tag: 'c' }],
    ['quay.io/a@sha256:00', { repository: 'quay.io/a', digest: 'sha256:00' }],
    ['quay.io/a:b@sha256:00', { repository: 'quay.io/a', tag: 'b', digest: 'sha256:00' }],
  ])('%s is split into parts and joined again unchanged', (text, parts) => {
    expect(parseImage(text)).toEqual(parts);
    expect(formatImage(parts)).toBe(text);
  });

  it.each(['nginx', 'nginx:1.19.10', 'quay.io/k0sproject/etcd:v3.5.13', 'Registry.example.org:5000/a_b/c-d:x'])(
    '%s is accepted',
    (text) => {
      expect(imageProblem(text)).toBeUndefined();
    },
  );

  it.each(['', 'a b', 'quay.io/A', 'a:', 'a:-x', 'a:b:c', 'http://quay.io/a', 'a@sha256:zz'])(
    '%j is refused',
    (text) => {
      expect(imageProblem(text)).toBeDefined();
    },
  );
});
