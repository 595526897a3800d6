import { describe, expect, it } from 'vitest';
import type { PlaneFacts } from '../facts.ts';
import { factsOf, hostedPlaneSpec, k0smotronPlaneSpec, kamajiPlaneSpec } from '../testing/specs.ts';
import { certificatePlan, etcdOperatorCredential } from './plan.ts';
import { dueRenewals, nextRenewal, renewAt } from './renewals.ts';
import type { ObservedCredential, PlannedCertificate, PlannedCredential } from './types.ts';

const noFacts: PlaneFacts = { checksums: new Map(), trust: {} };
const find = (plan: readonly PlannedCredential[], name: string) => plan.find((planned) => planned.name === name);

describe('a certificate plan', () => {
  it.each([
    ['k0smotron', k0smotronPlaneSpec()],
    ['kamaji', kamajiPlaneSpec()],
    ['hosted', hostedPlaneSpec()],
  ])('of %s contains every signer before its certificates', (_, desired) => {
    const made = new Set<string>();
    for (const planned of certificatePlan(desired, factsOf(desired))) {
      if ('signer' in planned && typeof planned.signer === 'string') expect(made).toContain(planned.signer);
      made.add(planned.name);
    }
    expect(made.size).toBeGreaterThan(5);
  });

  it.each([
    ['k0smotron', k0smotronPlaneSpec()],
    ['hosted', hostedPlaneSpec()],
  ])('of %s contains everything that does not depend on the address from the start', (_, desired) => {
    const early = certificatePlan(desired, noFacts).map(({ name }) => name);
    expect(early).toEqual(
      expect.arrayContaining(['ca', 'sa', 'etcd-ca', 'etcd-server', 'etcd-peer', 'apiserver-etcd-client']),
    );
    expect(early).not.toContain('apiserver');
    expect(early).not.toContain('cluster-kubeconfig');
  });

  it('names the API server by all its addresses and host names', () => {
    const desired = hostedPlaneSpec();
    const planned = find(certificatePlan(desired, factsOf(desired)), 'apiserver') as PlannedCertificate;
    expect(planned.hosts).toEqual(
      expect.arrayContaining([
        '10.96.0.1',
        '127.0.0.1',
        '203.0.113.9',
        'api.shop.example.org',
        'konnectivity.shop.teams.planes.example.org',
        'kubernetes.default.svc.cluster.local',
        's-shop',
        's-shop.teams.svc',
        'shop.teams.planes.example.org',
      ]),
    );
  });

  it('uses certificates of the user unchanged', () => {
    const desired = k0smotronPlaneSpec({
      certificates: { ...k0smotronPlaneSpec().certificates, external: { ca: 'my-ca' } },
    });
    expect(find(certificatePlan(desired, noFacts), 'ca')).toMatchObject({ external: true, place: { name: 'my-ca' } });
    expect(
      dueRenewals(certificatePlan(desired, noFacts), new Map(), 0).map(({ credential }) => credential.name),
    ).not.toContain('ca');
  });

  it('chooses the client certificate for etcd', () => {
    expect(etcdOperatorCredential(hostedPlaneSpec())).toBe('etcd-operator');
    expect(etcdOperatorCredential(k0smotronPlaneSpec())).toBe('apiserver-etcd-client');
  });
});

describe('renewal of a certificate', () => {
  const desired = hostedPlaneSpec();
  const plan = certificatePlan(desired, factsOf(desired));
  const planned = find(plan, 'apiserver') as PlannedCertificate;
  const hour = 3_600_000;
  const seen: ObservedCredential = {
    notBefore: 0,
    notAfter: 24 * hour,
    commonName: planned.commonName,
    organizations: planned.organizations,
    hosts: planned.hosts,
    signedByCurrent: true,
    trustsAll: true,
  };
  const reasonAt = (now: number, more: Partial<ObservedCredential>) =>
    dueRenewals([planned], new Map([['apiserver', { ...seen, ...more }]]), now)[0]?.reason;

  it.each<[string, number, Partial<ObservedCredential>, string | undefined]>([
    ['not while it is good', hour, {}, undefined],
    ['before it ends', 12 * hour, {}, 'expiring'],
    ['when a name is missing', hour, { hosts: planned.hosts.slice(1) }, 'hosts'],
    ['not for a name too many', hour, { hosts: [...planned.hosts, 'former.example.org'] }, undefined],
    ['when its authority was replaced', hour, { signedByCurrent: false }, 'signer'],
    ['when trust beside it is old', hour, { trustsAll: false }, 'trust'],
    ['when it says another name', hour, { commonName: 'other' }, 'subject'],
  ])('is due %s', (_, now, more, reason) => {
    expect(reasonAt(now, more)).toBe(reason);
  });

  it('is due when there is no certificate', () => {
    expect(dueRenewals([planned], new Map(), 0)).toEqual([{ credential: planned, reason: 'missing' }]);
  });

  it('is due in time even when its authority ends earlier', () => {
    const short = { ...seen, notAfter: 2 * hour };
    expect(renewAt(planned, short)).toBe(hour);
  });

  it('is scheduled at the earliest time of all certificates', () => {
    const admin = find(plan, 'cluster-kubeconfig')!;
    const observed = new Map([
      ['apiserver', seen],
      ['cluster-kubeconfig', { ...seen, notAfter: 20 * hour }],
    ] as const);
    expect(nextRenewal([planned, admin], observed)).toBe(10 * hour);
  });
});
