import { describe, expect, it } from 'vitest';
import { peersOf } from './peers.ts';

const metadata = '169.254.169.254';
const usual = { listenHost: '127.0.0.1', simulatesCloud: false, simulatesPods: true };

describe('the peers that tenants may name', () => {
  it('exclude the metadata service, and include this machine only while the API listens on it', () => {
    const own = peersOf(usual);
    expect([metadata, '127.0.0.1', '127.65.0.2', '10.0.0.1'].map((address) => own.allows(address))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    const shared = peersOf({ ...usual, listenHost: '0.0.0.0' });
    expect([metadata, '127.0.0.1', '::1', '127.65.0.2', '10.0.0.1'].map((address) => shared.allows(address))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
    expect(peersOf({ ...usual, listenHost: '0.0.0.0', simulatesCloud: true }).allows('127.0.0.1')).toBe(true);
  });

  it('follow --deny-peers and --allow-peers', () => {
    const peers = peersOf({ ...usual, denyPeers: '10.0.0.0/8, 127.0.0.0/8', allowPeers: '10.1.0.0/16,10.2.3.4' });
    expect(['10.0.0.1', '10.1.2.3', '10.2.3.4', '127.0.0.1', metadata].map((one) => peers.allows(one))).toEqual([
      false,
      true,
      true,
      false,
      true,
    ]);
    expect(() => peersOf({ ...usual, allowPeers: 'x' })).toThrow('--allow-peers: "x" is no network');
  });
});
