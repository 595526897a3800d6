import { describe, expect, it } from 'vitest';
import { advertisedHost, type HostNames, parseTlsSans, servingHosts } from './serving-hosts.ts';

const entry = (address: string, internal = false): object => ({ address, internal });
const host: HostNames = {
  hostname: () => 'Mgmt-1',
  interfaces: () =>
    ({
      lo: [entry('127.0.0.1', true)],
      eth0: [entry('2001:db8::1'), entry('fe80::1'), entry('192.0.2.7')],
    }) as ReturnType<HostNames['interfaces']>,
};

describe('the names in the serving certificate', () => {
  it('are all names and addresses of the host when the server listens on 0.0.0.0', () => {
    const hosts = servingHosts('0.0.0.0', ['api.example.com'], host);
    expect(hosts).toEqual(
      expect.arrayContaining(['localhost', 'mgmt-1', '192.0.2.7', '2001:db8::1', 'api.example.com']),
    );
    expect(hosts).not.toContain('fe80::1');
  });

  it('are only the listen address otherwise', () => {
    const hosts = servingHosts('192.0.2.9', [], host);
    expect(hosts).toContain('192.0.2.9');
    expect(hosts).not.toContain('mgmt-1');
    expect(hosts).not.toContain('192.0.2.7');
  });

  it.each([
    ['0.0.0.0', ['*.example.com', 'api.example.com'], 'api.example.com'],
    ['0.0.0.0', [], '192.0.2.7'],
    ['127.0.0.1', ['api.example.com'], '127.0.0.1'],
  ])('advertise for %s with %j the address %s', (listen, sans, address) => {
    expect(advertisedHost(listen, sans, host)).toBe(address);
  });

  it('are validated', () => {
    expect(parseTlsSans(['a.example,[2001:db8::2]', '192.0.2.1'])).toEqual(['a.example', '2001:db8::2', '192.0.2.1']);
    expect(() => parseTlsSans(['not a name'])).toThrow('--tls-san: "not a name"');
  });
});
