import { describe, expect, it } from 'vitest';
import { hostedNaming, k0smotronNaming, kamajiNaming } from './naming/index.ts';
import { specProblems } from './problems.ts';
import type { PlaneSpec } from './spec.ts';
import { hostedPlaneSpec, k0smotronPlaneSpec, kamajiPlaneSpec } from './testing/specs.ts';

describe('specProblems', () => {
  it.each([k0smotronPlaneSpec(), kamajiPlaneSpec(), hostedPlaneSpec()])(
    'finds no problem in a spec of $naming.provider',
    (desired) => {
      expect(specProblems(desired)).toEqual([]);
    },
  );

  const store = { kind: 'own-etcd', storage: { size: '1Gi' }, deleteVolumes: false } as const;
  const { exposure } = k0smotronPlaneSpec();

  it.each<[string, Partial<PlaneSpec>, string]>([
    ['latest as version', { version: 'latest' }, 'VersionUnknown'],
    ['two members of etcd', { dataStore: { ...store, members: 2 } }, 'EtcdMembersRefused'],
    ['seven members of etcd', { dataStore: { ...store, members: 7 } }, 'EtcdMembersRefused'],
    ['no image', { images: { etcd: 'etcd:v3.5.13' } }, 'ImageMissing'],
    ['a range that is none', { network: { serviceCidrs: ['10.96.0.0'], podCidrs: [], domain: 'a' } }, 'NetworkRefused'],
    ['no range', { network: { serviceCidrs: [], podCidrs: [], domain: 'a' } }, 'NetworkRefused'],
    ['a name that is none', { exposure: { ...exposure, sans: ['https://api.example'] } }, 'HostRefused'],
    ['an address that is none', { exposure: { ...exposure, address: 'not a host' } }, 'HostRefused'],
  ])('explains a spec with %s', (_, more, reason) => {
    const problems = specProblems(k0smotronPlaneSpec(more));
    expect(problems.map((problem) => problem.reason)).toEqual([reason]);
    expect(problems[0]?.message).not.toBe('');
  });

  it.each([
    ['k0smotron', 'edge.a', 'kmc-edge.a-lb'],
    ['kamaji', '9edge', '9edge'],
    ['hosted', 'edge.a', 's-edge.a'],
  ] as const)(
    'refuses a spec of %s named %s, with the name of the Service and what to do',
    (provider, name, service) => {
      const naming = {
        k0smotron: k0smotronNaming(name, 'LoadBalancer'),
        kamaji: kamajiNaming(name),
        hosted: hostedNaming(name),
      }[provider];
      const [problem, ...others] = specProblems({ ...k0smotronPlaneSpec(), naming });
      expect(others).toEqual([]);
      expect(problem?.reason).toBe('NameRefused');
      expect(problem?.message).toContain(`Service ${service}`);
      expect(problem?.message).toContain('begins with a letter');
    },
  );

  it('accepts wildcard names below a domain', () => {
    expect(
      specProblems(k0smotronPlaneSpec({ exposure: { ...exposure, sans: ['*.example.org', '2001:db8::1'] } })),
    ).toEqual([]);
  });
});
