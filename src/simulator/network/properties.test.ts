import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testCloud } from '../testing/test-cloud.ts';
import { type Json, makeExternal, makeNetwork, networkClient, type ServiceClient } from './testing/requests.ts';

type Step =
  | { readonly kind: 'any' | 'two' | 'bulk' | 'floating' }
  | { readonly kind: 'certain'; readonly host: number }
  | { readonly kind: 'delete' | 'deleteFloating' | 'swap'; readonly which: number; readonly host: number };

const host = fc.integer({ min: 1, max: 14 });
const which = fc.nat(30);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('any', 'two', 'bulk', 'floating') }),
  fc.record({ kind: fc.constant('certain'), host }),
  fc.record({ kind: fc.constantFrom('delete', 'deleteFloating', 'swap'), which, host }),
);

/** Returns all addresses of all ports, with their subnets. */
async function addressesOf(admin: ServiceClient): Promise<string[]> {
  const ports = await admin.list('/ports');
  return ports.flatMap((port) => port.fixed_ips.map((fixed: Json) => `${fixed.subnet_id} ${fixed.ip_address}`));
}

describe('any sequence of address requests', () => {
  it('never gives out an address twice and returns all of them in the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.array(step, { maxLength: 60 }), async (seed, steps) => {
        const cloud = await testCloud({ seed });
        const admin = networkClient(cloud.admin);
        const member = networkClient(await cloud.member());
        const external = await makeExternal(admin, '203.0.113.0/28');
        const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/28');
        const ports: string[] = [];
        const floating: string[] = [];
        for (const each of steps) {
          await play(each);
          const taken = await addressesOf(admin);
          expect(new Set(taken).size).toBe(taken.length);
        }
        for (const id of ports) await member.send('DELETE', `/ports/${id}`);
        // 16 addresses minus network, broadcast and gateway.
        const all = await member.send('POST', '/ports', { ports: Array(13).fill({ network_id: networkId }) });
        expect(all.status).toBe(201);
        const more = await member.send('POST', '/ports', { port: { network_id: networkId } });
        expect(more.status).toBe(409);

        async function play(asked: Step): Promise<void> {
          const make = async (desired: object): Promise<void> => {
            const { status, body } = await member.send('POST', '/ports', {
              port: { network_id: networkId, ...desired },
            });
            expect([201, 409]).toContain(status);
            if (status === 201) ports.push((body as Json).port.id);
          };
          switch (asked.kind) {
            case 'any':
              return make({});
            case 'two':
              return make({ fixed_ips: [{ subnet_id: subnetId }, { subnet_id: subnetId }] });
            case 'certain':
              return make({ fixed_ips: [{ ip_address: `10.0.0.${asked.host}` }] });
            case 'bulk': {
              const desired = { ports: Array(4).fill({ network_id: networkId }) };
              const { status, body } = await member.send('POST', '/ports', desired);
              if (status === 201) ports.push(...(body as Json).ports.map((port: Json) => port.id));
              return;
            }
            case 'floating': {
              const desired = { floatingip: { floating_network_id: external } };
              const { status, body } = await member.send('POST', '/floatingips', desired);
              if (status === 201) floating.push((body as Json).floatingip.id);
              return;
            }
            case 'swap': {
              const id = ports[asked.which % Math.max(1, ports.length)];
              if (id === undefined) return;
              const fixed_ips = [{ ip_address: `10.0.0.${asked.host}` }, { subnet_id: subnetId }];
              await member.send('PUT', `/ports/${id}`, { port: { fixed_ips } });
              return;
            }
            case 'delete': {
              const [id] = ports.splice(asked.which % Math.max(1, ports.length), 1);
              if (id !== undefined) await member.remove('port', id);
              return;
            }
            case 'deleteFloating': {
              const [id] = floating.splice(asked.which % Math.max(1, floating.length), 1);
              if (id !== undefined) await member.remove('floatingip', id);
              return;
            }
          }
        }
      }),
      { numRuns: 25 },
    );
  });
});
