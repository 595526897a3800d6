import { describe, expect, it } from 'vitest';
import {
  classNameOf,
  compareStackVersions,
  familyName,
  inChannel,
  minorDistance,
  newestPerChannel,
  parseStackId,
  parseStackVersion,
  releaseNameOf,
} from './stack-id.ts';

describe('ids of cluster stacks', () => {
  it('are parsed from the right, so that names may hold dashes', () => {
    const id = parseStackId('openstack-hosted-control-plane-1-33-v1');
    expect(id).toEqual({
      provider: 'openstack',
      name: 'hosted-control-plane',
      kubernetesVersion: '1.33',
      version: { major: 1, channel: 'stable', patch: undefined },
    });
    expect(classNameOf(id!)).toBe('openstack-hosted-control-plane-1-33-v1');
    expect(familyName(id!)).toBe('openstack-hosted-control-plane-1-33');
  });

  it('end with the last minor and version when the name looks like another pair', () => {
    const id = parseStackId('openstack-team-1-30-v2-1-33-v12')!;
    expect(id.name).toBe('team-1-30-v2');
    expect(id.kubernetesVersion).toBe('1.33');
    expect(id.version.major).toBe(12);
  });

  it.each([
    ['openstack-scs2-1-33-v0-sha.hipstsw', 'openstack-scs2-1-33-v0-sha.hipstsw', 'openstack-scs2-1-33-v0-sha-hipstsw'],
    ['openstack-scs2-1-33-v0-sha-hipstsw', 'openstack-scs2-1-33-v0-sha.hipstsw', 'openstack-scs2-1-33-v0-sha-hipstsw'],
    ['openstack-a-b-1-9-v10', 'openstack-a-b-1-9-v10', 'openstack-a-b-1-9-v10'],
    ['openstack-a-b-1-9-v1-rc-2', 'openstack-a-b-1-9-v1-rc.2', 'openstack-a-b-1-9-v1-rc-2'],
  ])('map %s to the class %s and the release %s', (text, className, release) => {
    expect(classNameOf(parseStackId(text)!)).toBe(className);
    expect(releaseNameOf(parseStackId(text)!)).toBe(release);
  });

  it.each([
    'quick-start',
    'openstack-1-33-v1',
    'openstack--1-33-v1',
    'openstack-scs2-1-33',
    'openstack-scs2-1-33-1',
    'openstack-scs2-1-33-v',
    'openstack-scs2-1-33-v1-alpha',
    'openstack-scs2-1-33-v1-alpha.',
    'openstack-scs2-1-33-v1-alpha.1.2',
    'openstack-scs2-11-33-v1',
    'openstack-scs2-1-33-v1-stable.1',
    '',
  ])('do not match %j', (text) => {
    expect(parseStackId(text)).toBeUndefined();
  });

  it.each(['v1', 'v0', 'v10', 'v1-alpha.1', 'v0-sha.abc1234'])('accept %s as a version', (text) => {
    expect(parseStackVersion(text)).toBeDefined();
  });
  it.each(['1', 'v1.0', 'v1-alpha', 'v1-alpha-1', 'v1-alpha.', 'v1-a.b.c', 'v1-alpha-1.0'])(
    'refuse %s as a version',
    (text) => {
      expect(parseStackVersion(text)).toBeUndefined();
    },
  );

  it('compare parts of versions as numbers', () => {
    const sorted = (texts: string[]) =>
      texts.sort((a, b) => compareStackVersions(parseStackVersion(a)!, parseStackVersion(b)!));
    expect(sorted(['v10', 'v9', 'v2'])).toEqual(['v2', 'v9', 'v10']);
    expect(sorted(['v0-sha.10', 'v0-sha.9', 'v1-sha.1'])).toEqual(['v0-sha.9', 'v0-sha.10', 'v1-sha.1']);
    expect(sorted(['v0-sha.b', 'v0-sha.10', 'v0-sha.a'])).toEqual(['v0-sha.10', 'v0-sha.a', 'v0-sha.b']);
  });

  it('compare versions only within one channel', () => {
    const versions = ['v1', 'v3', 'v2', 'v0-sha.9', 'v0-sha.10', 'v1-rc.1'];
    const ids = versions.map((version) => parseStackId(`openstack-scs2-1-33-${version}`)!);
    expect(newestPerChannel(ids).map(classNameOf)).toEqual([
      'openstack-scs2-1-33-v3',
      'openstack-scs2-1-33-v0-sha.10',
      'openstack-scs2-1-33-v1-rc.1',
    ]);
    expect(inChannel(parseStackVersion('v3')!, 'stable')).toBe(true);
    expect(inChannel(parseStackVersion('v3')!, 'custom')).toBe(false);
    expect(inChannel(parseStackVersion('v0-sha.9')!, 'custom')).toBe(true);
  });

  it('have a distance in minor versions, unless the major differs', () => {
    const at = (kubernetesVersion: string) => ({ provider: 'p', name: 'n', kubernetesVersion });
    expect(minorDistance(at('1.9'), at('1.10'))).toBe(1);
    expect(minorDistance(at('1.33'), at('1.32'))).toBe(-1);
    expect(minorDistance(at('1.33'), at('2.0'))).toBeUndefined();
  });
});
