import { describe, expect, it } from 'vitest';
import { type Clock, ManualClock } from '../machinery/index.ts';
import { isMatchingPair, parseCertificate } from '../pki/index.ts';
import { renewedCertificates, trustBundle, type WebhookCertificates } from './certificates.ts';

const hour = 60 * 60 * 1000;
const day = 24 * hour;
const year = 365 * day;
const begin = new ManualClock().now();
const hosts = ['capstan-webhooks.capstan-system.svc', '127.0.0.1'];

/** Sets the clock to this time after the start. */
async function at(clock: ManualClock, ms: number): Promise<void> {
  await clock.advance(begin + ms - clock.now());
}

describe('the certificates of the webhooks', () => {
  const make = async (
    clock: Clock,
    found?: WebhookCertificates,
    more: { isPublished?: boolean; hosts?: readonly string[] } = {},
  ): Promise<WebhookCertificates> =>
    await renewedCertificates(found, { hosts: more.hosts ?? hosts, clock, isPublished: more.isPublished ?? true });

  it('are created when missing, for all names, and then stay', async () => {
    const clock = new ManualClock();
    const first = await make(clock);
    const { certificate, privateKey } = first.serving;
    expect(isMatchingPair(certificate, privateKey, first.authority.certificate)).toBe(true);
    expect(parseCertificate(certificate)).toMatchObject({ dnsNames: [hosts[0]], ipAddresses: [hosts[1]] });
    await at(clock, 59 * day);
    expect(await make(clock, first)).toBe(first);
  });

  it('are renewed under the same authority before and after expiry and for a new name', async () => {
    const clock = new ManualClock();
    const first = await make(clock);
    for (const [later, names] of [
      [61 * day, hosts],
      [2 * year, hosts],
      [day, [...hosts, 'more.example.org']],
    ] as const) {
      await at(clock, later);
      const next = await make(clock, first, { hosts: names });
      expect(next.authority).toEqual(first.authority);
      expect(next.serving).not.toEqual(first.serving);
      expect(parseCertificate(next.serving.certificate).notAfter).toBeGreaterThan(clock.now());
    }
  });

  it('change their authority in steps, each trusted by clients of the step before or after', async () => {
    const clock = new ManualClock();
    let now = await make(clock);
    const seen = [now];
    const step = async (ms: number, isPublished = true): Promise<void> => {
      await at(clock, ms);
      now = await make(clock, now, { isPublished });
      seen.push(now);
    };
    await step(8 * year);
    expect(now.next).toBeUndefined();
    await step(9 * year + day);
    expect(now.next).toBeDefined();
    await step(9 * year + day + 30 * 60_000);
    expect(now.previous, 'not before it has settled').toBeUndefined();
    await step(9 * year + 2 * day, false);
    expect(now.previous, 'not before it is published').toBeUndefined();
    await step(9 * year + 2 * day);
    expect(now.authority.certificate).toBe(seen.at(-2)?.next?.certificate);
    expect(now.previous?.certificate).toBe(seen[0]?.authority.certificate);
    await step(9 * year + 2 * day + hour);
    expect(now.previous).toBeDefined();
    await step(9 * year + 4 * day);
    expect(now.previous).toBeUndefined();
    for (const [index, { serving }] of seen.entries()) {
      for (const near of [seen[index - 1], seen[index], seen[index + 1]]) {
        if (near) expect(isTrusted(serving, trustBundle(near)), `step ${index}`).toBe(true);
      }
    }
  });

  it('are created again when the authority expired unnoticed or is damaged', async () => {
    const clock = new ManualClock();
    const first = await make(clock);
    await at(clock, 11 * year);
    const next = await make(clock, first);
    expect(next.authority).not.toEqual(first.authority);
    expect(next.previous).toBeUndefined();
    const other = await make(clock);
    const mixed = { ...next, authority: { ...next.authority, privateKey: other.authority.privateKey } };
    const repaired = await make(clock, mixed);
    expect(isTrusted(repaired.serving, trustBundle(repaired))).toBe(true);
    expect(isMatchingPair(repaired.authority.certificate, repaired.authority.privateKey)).toBe(true);
  });
});

function isTrusted({ certificate, privateKey }: { certificate: string; privateKey: string }, bundle: string): boolean {
  const authorities = bundle.split(/(?<=-----END CERTIFICATE-----\n)/).filter((part) => part.trim() !== '');
  return authorities.some((authority) => isMatchingPair(certificate, privateKey, authority));
}
