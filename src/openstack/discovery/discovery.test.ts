import { describe, expect, it } from 'vitest';
import type { ServiceType } from '../config/service-types.ts';
import { failureOf } from '../testing/failure.ts';
import { fakeCloud } from '../testing/fake-cloud.ts';
import { serviceUrls } from './endpoint-url.ts';
import { compareVersions, newestVersion, parseVersions } from './versions.ts';

describe('serviceUrls', () => {
  it.each<[ServiceType, string, string, string]>([
    ['identity', 'https://k:5000', 'https://k:5000/v3', 'https://k:5000/v3/'],
    ['identity', 'https://k/identity/v3/', 'https://k/identity/v3', 'https://k/identity/v3/'],
    ['identity', 'https://k/v2.0', 'https://k/v3', 'https://k/v3/'],
    ['compute', 'http://n:8774/v2.1', 'http://n:8774/v2.1', 'http://n:8774/v2.1/'],
    ['compute', 'http://n/compute', 'http://n/compute/v2.1', 'http://n/compute/v2.1/'],
    ['compute', 'http://n:8774/v2/%(project_id)s', 'http://n:8774/v2.1/PID', 'http://n:8774/v2.1/'],
    ['compute', 'http://n:8774/v2.1/PID', 'http://n:8774/v2.1/PID', 'http://n:8774/v2.1/'],
    ['network', 'http://q:9696', 'http://q:9696/v2.0', 'http://q:9696/'],
    ['network', 'http://q/networking/v2.0/', 'http://q/networking/v2.0', 'http://q/networking/'],
    ['image', 'http://g:9292', 'http://g:9292/v2', 'http://g:9292/'],
    ['image', 'http://g/v1', 'http://g/v2', 'http://g/'],
    ['volume', 'http://c:8776/v3/PID', 'http://c:8776/v3/PID', 'http://c:8776/v3/'],
    ['volume', 'http://c/volume', 'http://c/volume/v3/PID', 'http://c/volume/v3/'],
    ['volume', 'http://c:8776/v2/PID', 'http://c:8776/v3/PID', 'http://c:8776/v3/'],
    ['load-balancer', 'http://o:9876', 'http://o:9876/v2.0', 'http://o:9876/'],
    ['load-balancer', 'http://o/v9/lb', 'http://o/v9/lb/v2.0', 'http://o/v9/lb/'],
  ])('gives the URLs of %s at %s', (service, endpoint, resources, versions) => {
    expect(serviceUrls(service, endpoint, 'PID')).toEqual({ resources, versions });
  });
});

describe('version documents', () => {
  it('are read in all their forms', () => {
    const one = { id: 'v2.1', version: '2.93', min_version: '2.1' };
    const microversions = { min: '2.1', max: '2.93' };
    expect(parseVersions({ version: one }, /^v2/)).toEqual({ ids: ['v2.1'], microversions });
    expect(parseVersions({ versions: [{ id: 'v2.0', version: '' }, one] }, /^v2\.1/)).toEqual({
      ids: ['v2.0', 'v2.1'],
      microversions,
    });
    expect(parseVersions({ versions: { values: [{ id: 'v3.14' }] } }, /^v3/)).toEqual({
      ids: ['v3.14'],
      microversions: undefined,
    });
    expect(parseVersions('nonsense', /^v/)).toBeUndefined();
  });

  it('are compared by number', () => {
    expect(compareVersions('2.9', '2.10')).toBeLessThan(0);
    expect(newestVersion(['v2.0', 'v2.26', 'v2.9'])).toBe('v2.26');
  });
});

describe('microversions', () => {
  it('are used as far as an old cloud supports them', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /compute/v2.1/', { json: { version: { id: 'v2.1', version: '2.60', min_version: '2.1' } } });
    const { compute } = cloud.connect();
    expect(await compute.service.microversion()).toBe('2.60');
    expect(await compute.service.supports('2.52')).toBe(true);
    expect(await compute.service.supports('2.61')).toBe(false);
    const desired = {
      name: 's',
      flavorId: 'f',
      networks: 'none',
      blockDevices: [{ source: 'image', destination: 'volume', id: 'i', bootIndex: 0, size: 1, volumeType: 'fast' }],
    } as const;
    expect((await failureOf(compute.servers.create(desired))).message).toMatch(
      /the volume type of a block device needs microversion 2\.67, 2\.60 is in use; leave it out, use a newer cloud/,
    );
  });

  it('are refused with a reason when the cloud is too old', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /compute/v2.1/', { json: { version: { id: 'v2.1', version: '2.12', min_version: '2.1' } } });
    expect((await failureOf(cloud.connect().compute.servers.get('x'))).message).toMatch(/up to 2\.12, at least 2\.37/);
  });

  it('can be set in clouds.yaml, which saves the version request', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /compute/v2.1/limits', { json: { limits: { absolute: { maxTotalCores: 5 } } } });
    await cloud.connect({}, { services: { compute: { microversion: '2.60' } } }).compute.limits();
    expect(cloud.requests.at(-1)!.headers['openstack-api-version']).toBe('compute 2.60');
    expect(cloud.log).not.toContain('GET /compute/v2.1/');
  });

  it('give the minor version of octavia', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /load-balancer/', { json: { versions: [{ id: 'v2.0' }, { id: 'v2.12', status: 'CURRENT' }] } });
    const { loadBalancer } = cloud.connect();
    expect(await loadBalancer.supports('v2.12')).toBe(true);
    expect(await loadBalancer.supports('v2.13')).toBe(false);
    expect(cloud.log.filter((line) => line === 'GET /load-balancer/')).toHaveLength(1);
  });

  it('are requested again after a failure', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /compute/v2.1/', { status: 500, json: {} });
    const { compute } = cloud.connect();
    await failureOf(compute.service.microversion());
    cloud.on('GET /compute/v2.1/', { json: { version: { id: 'v2.1', version: '2.93', min_version: '2.1' } } });
    expect(await compute.service.microversion()).toBe('2.90');
  });
});
