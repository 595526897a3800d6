import { describe, expect, it } from 'vitest';
import type { CloudConfig } from '../config/cloud-config.ts';
import { fakeConfig } from '../testing/fake-cloud.ts';
import { type Catalogue, findEndpoint } from './catalogue.ts';

const endpoint = (face: string, region: string, url: string) => ({ interface: face, region, url });
const catalogue: Catalogue = [
  {
    type: 'compute',
    name: 'nova',
    endpoints: [
      endpoint('public', 'R1', 'http://public-1'),
      endpoint('internal', 'R1', 'http://internal-1'),
      endpoint('public', 'R2', 'http://public-2'),
    ],
  },
  { type: 'volumev2', name: 'cinderv2', endpoints: [endpoint('public', 'R1', 'http://v2')] },
  { type: 'volumev3', name: 'cinderv3', endpoints: [endpoint('public', 'R1', 'http://v3')] },
];
const find = (service: Parameters<typeof findEndpoint>[1], config: Partial<CloudConfig> = {}): string =>
  findEndpoint(catalogue, service, fakeConfig(config), { scoped: true });

describe('findEndpoint', () => {
  it.each<[string, Parameters<typeof findEndpoint>[1], Partial<CloudConfig>, string]>([
    ['the first region when none is named', 'compute', {}, 'http://public-1'],
    ['the named region', 'compute', { region: 'R2' }, 'http://public-2'],
    ['the wanted interface', 'compute', { interfaces: ['internal'] }, 'http://internal-1'],
    ['the next best interface', 'compute', { region: 'R2', interfaces: ['internal', 'public'] }, 'http://public-2'],
    ['the newer of two names of a service', 'volume', {}, 'http://v3'],
    ['the type clouds.yaml names', 'volume', { services: { volume: { serviceType: 'volumev2' } } }, 'http://v2'],
    [
      'the region of a service',
      'compute',
      { region: 'R1', services: { compute: { region: 'R2' } } },
      'http://public-2',
    ],
    ['an override', 'load-balancer', { services: { 'load-balancer': { endpoint: 'http://o' } } }, 'http://o'],
  ])('chooses %s', (_what, service, config, url) => {
    expect(find(service, config)).toBe(url);
  });

  it.each<[string, Parameters<typeof findEndpoint>[1], Partial<CloudConfig>, RegExp]>([
    [
      'a missing service',
      'load-balancer',
      {},
      /cloud "fake" has no load-balancer service \(Octavia\) in its catalogue; use a cloud that offers it, or set load_balancer_endpoint_override/,
    ],
    [
      'a wrong region',
      'compute',
      { region: 'r1' },
      /region "r1" of cloud "fake" has no compute service; set region_name to one of: R1, R2/,
    ],
    [
      'a wrong interface',
      'compute',
      { interfaces: ['admin'] },
      /no compute endpoint for interface admin; set interface to one of: internal, public/,
    ],
  ])('explains %s', (_what, service, config, message) => {
    expect(() => find(service, config)).toThrow(message);
  });

  it('explains a token that is not scoped', () => {
    expect(() => findEndpoint([], 'compute', fakeConfig(), { scoped: false })).toThrow(
      /not scoped to a project.*set project_name/,
    );
  });
});
