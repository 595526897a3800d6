import { describe, expect, it } from 'vitest';
import {
  checkPeerHost,
  guardedLookup,
  linkLocalNetworks,
  loopbackNetworks,
  PeerRefusedError,
  peerPolicy,
} from './peer-policy.ts';

const policy = peerPolicy({ deny: [...linkLocalNetworks, ...loopbackNetworks], allow: ['127.65.0.0/16'] });

describe('the policy about peers of tenants', () => {
  it.each([
    ['10.1.2.3', true],
    ['169.254.169.254', false],
    ['::ffff:169.254.169.254', false],
    ['::ffff:a9fe:a9fe', false],
    ['fe80::1%eth0', false],
    ['fd00:ec2::254', false],
    ['127.0.0.1', false],
    ['0.0.0.0', false],
    ['::1', false],
    ['127.65.0.9', true],
    ['2001:db8::1', true],
    ['not an address', false],
  ])('allows %s: %s', (address, allowed) => {
    expect(policy.allows(address)).toBe(allowed);
  });

  it('judges hosts that are addresses at once and leaves names to the resolver', () => {
    expect(() => checkPeerHost(policy, '[::1]')).toThrow(PeerRefusedError);
    expect(() => checkPeerHost(policy, '169.254.169.254')).toThrow(
      '169.254.169.254 must not be connected to from here',
    );
    expect(() => checkPeerHost(policy, 'cloud.example.org')).not.toThrow();
  });

  it('uses the addresses a name resolves to, except the refused ones', () => {
    const resolve = (answer: unknown) =>
      new Promise<unknown>((done) => {
        const lookup = guardedLookup(policy, (_host, _options, told) => told(null, answer as never, 4));
        lookup('cloud.example.org', {}, (error, found) => done(error ?? found));
      });
    const both = [
      { address: '169.254.169.254', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ];
    return Promise.all([
      expect(resolve(both)).resolves.toEqual([both[1]]),
      expect(resolve([both[0]])).resolves.toBeInstanceOf(PeerRefusedError),
      expect(resolve('127.0.0.1')).resolves.toBeInstanceOf(PeerRefusedError),
      expect(resolve('127.65.1.1')).resolves.toBe('127.65.1.1'),
    ]);
  });

  it('refuses a configuration that is not a network', () => {
    expect(() => peerPolicy({ deny: ['everything'], allow: [] })).toThrow('"everything" is no network');
  });
});
