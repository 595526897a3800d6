import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { type Brought, bringParts, clusterOnBroughtParts } from './brought-parts.ts';
import { type Inventory, takeInventory } from './inventory.ts';
import { userData } from './manifests.ts';
import { conditionOf, missingForRealCloud, openStage, type Stage, type Thing, tell } from './stage.ts';

const missing = await missingForRealCloud();
const cluster = 'lodger';

describe.skipIf(missing !== undefined)(
  `a cluster on what its user brought to a real cloud${missing ? ` (${missing})` : ''}`,
  { timeout: 300_000 },
  () => {
    let stage: Stage;
    let brought: Brought;
    let before: { inventory: Inventory; brought: Record<string, unknown> };
    const json = <T = Record<string, unknown>>(...args: string[]): Promise<T> => stage.openstack.json<T>(...args);
    const server = (role: string): Promise<Thing> => stage.get('openstackserver', `${cluster}-${role}`);

    beforeAll(async () => {
      stage = await openStage();
      brought = await bringParts(stage.openstack, stage.namespace);
      before = { inventory: await takeInventory(stage.openstack), brought: await brought.look() };
    });
    afterAll(() => stage?.close());

    it('runs its servers after it is applied', async () => {
      await stage.apply([userData(), ...clusterOnBroughtParts(cluster, brought)]);
      await eventually(async () => {
        for (const role of ['controller', 'worker']) {
          const { status } = await server(role);
          expect([role, status.instanceState, status.ready]).toEqual([role, 'ACTIVE', true]);
        }
      }, 120_000);
    });

    it('uses existing network, subnet, router and address unchanged', async () => {
      const { spec, status } = await stage.get('openstackcluster', cluster);
      expect(status).toMatchObject({
        network: { id: brought.network, name: brought.name, subnets: [{ id: brought.subnet, cidr: '10.8.0.0/24' }] },
        router: { id: brought.router, name: brought.name },
      });
      expect(spec.controlPlaneEndpoint).toEqual({ host: brought.apiAddress, port: 443 });
      const controller = await server('controller');
      await eventually(async () => {
        expect(await json('floating', 'ip', 'show', brought.apiAddress)).toMatchObject({
          port_id: controller.status.resources.ports[0].id,
        });
      }, 60_000);
    });

    it('has the security group rules its user wrote', async () => {
      const { status } = await stage.get('openstackcluster', cluster);
      const { controlPlaneSecurityGroup: controlPlane, workerSecurityGroup: worker } = status;
      const rows = await json<Record<string, unknown>[]>('security', 'group', 'rule', 'list', controlPlane.id);
      const rules = rows.map((row) =>
        [row['IP Protocol'] ?? 'any', row['Port Range'] || '-', row['Remote Security Group'] ?? row['IP Range']].join(
          ' ',
        ),
      );
      expect(rules).toEqual(
        expect.arrayContaining([
          'tcp 443:443 0.0.0.0/0',
          'icmp - 10.8.0.17/16',
          expect.stringMatching(new RegExp(`^(tcp|6) 179:179 ${controlPlane.id}$`)),
          expect.stringMatching(new RegExp(`^(tcp|6) 179:179 ${worker.id}$`)),
          expect.stringMatching(new RegExp(`^(ipip|4) - ${worker.id}$`)),
        ]),
      );
      expect(rules).toHaveLength(2 + 1 + 1 + 2 + 1 + 2 + 1);
    });

    it('has ports as they were specified', async () => {
      const { status, metadata } = await server('controller');
      const { controlPlaneSecurityGroup } = (await stage.get('openstackcluster', cluster)).status;
      const [main, open] = status.resources.ports;
      expect(await json('port', 'show', main.id)).toMatchObject({
        name: `${cluster}-controller-main`,
        description: `the way in [owner ${metadata.uid}]`,
        fixed_ips: [{ subnet_id: brought.subnet, ip_address: '10.8.0.50' }],
        allowed_address_pairs: [{ ip_address: '10.8.0.200' }],
        security_group_ids: [controlPlaneSecurityGroup.id],
        port_security_enabled: true,
        tags: ['main'],
      });
      expect(await json('port', 'show', open.id)).toMatchObject({
        name: `${cluster}-controller-open`,
        security_group_ids: [],
        port_security_enabled: false,
      });
      const trunks = await json<Record<string, unknown>[]>('network', 'trunk', 'list');
      expect(trunks.filter((row) => String(row['Name']).startsWith(`${cluster}-`))).toMatchObject([
        { Name: `${cluster}-controller-main`, 'Parent Port': main.id },
      ]);
    });

    it('puts its servers into the server group of its user', async () => {
      const { status } = await server('controller');
      const groups = await json<Record<string, unknown>[]>('server', 'group', 'list', '--long');
      expect(groups.find((row) => row['ID'] === brought.serverGroup)).toMatchObject({ Members: [status.instanceID] });
    });

    it('gives its worker an address from the pool', async () => {
      const worker = await server('worker');
      await eventually(async () => {
        expect(await json('floating', 'ip', 'show', brought.poolAddress)).toMatchObject({
          port_id: worker.status.resources.ports[0].id,
        });
      }, 60_000);
      const { status } = await stage.get('openstackfloatingippool', 'addresses');
      expect(status).toMatchObject({ claimedIPs: [brought.poolAddress] });
    });

    it('reports in the words of the cloud why a server cannot be created', async () => {
      let message = '';
      await eventually(async () => {
        const { status } = await stage.get('openstackmachine', `${cluster}-keyless`);
        message = conditionOf(status, 'InstanceReady')?.message ?? '';
        expect(message).toContain('Invalid key_name provided');
        expect(message).toContain(`sshKeyName is "${brought.name}-nobody-has"`);
      }, 60_000);
      tell(`it says: ${message}`);
    });

    it('is deleted to the last resource and keeps what the user brought', async () => {
      await stage.kubectl('delete', 'cluster', cluster, '--timeout=240s');
      await stage.kubectl('delete', 'openstackfloatingippool', 'addresses', '--timeout=60s');
      expect(await takeInventory(stage.openstack)).toEqual(before.inventory);
      expect(await brought.look()).toEqual(before.brought);
      for (const address of [brought.apiAddress, brought.poolAddress]) {
        expect(await json('floating', 'ip', 'show', address)).toMatchObject({ port_id: null });
      }
    });
  },
);
