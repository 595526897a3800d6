import type { Compute } from '../compute/compute.ts';
import type { ServerGroup } from '../compute/server-groups.ts';
import type { Server, ServerSpec } from '../compute/servers/types.ts';
import { collect } from '../resource/pages.ts';
import type { NetworkTables } from './network.ts';
import { createRecorder } from './recorder.ts';
import type { Rehearsal } from './rehearsal.ts';
import { createTable, readFrom, rehearsedPart, type Table } from './table.ts';
import type { VolumeTables } from './volume.ts';

export interface ComputeTables {
  readonly servers: Table<Server>;
  readonly serverGroups: Table<ServerGroup>;
}

const service = 'compute';

export function computeTables({ compute }: { compute: Compute }): ComputeTables {
  return {
    servers: createTable({ service, kind: 'server', load: () => collect(compute.servers.list()) }),
    serverGroups: createTable({ service, kind: 'server group', load: () => collect(compute.serverGroups.list()) }),
  };
}

export function rehearsedCompute(
  real: Compute,
  tables: ComputeTables & Pick<NetworkTables, 'ports' | 'networks'> & VolumeTables,
  rehearsal: Rehearsal,
): Compute {
  const { servers, serverGroups, ports, networks, volumes } = tables;
  const { made, deleted } = createRecorder(rehearsal);

  const addressesOf = async (desired: ServerSpec): Promise<Server['addresses']> => {
    const addresses: Record<string, { address: string; version: number; type: 'fixed'; macAddress: string }[]> = {};
    for (const wanted of typeof desired.networks === 'string' ? [] : desired.networks) {
      if (!('portId' in wanted)) continue;
      const { networkId, fixedIps, macAddress } = await ports.get(wanted.portId);
      const { name } = await networks.get(networkId);
      addresses[name] ??= [];
      addresses[name].push(
        ...fixedIps.map(({ address }) => ({
          address,
          version: address.includes(':') ? 6 : 4,
          type: 'fixed' as const,
          macAddress,
        })),
      );
    }
    return addresses;
  };

  const plug = async (id: string, desired: ServerSpec): Promise<void> => {
    for (const wanted of typeof desired.networks === 'string' ? [] : desired.networks) {
      if (!('portId' in wanted)) continue;
      const port = await ports.get(wanted.portId);
      ports.put({ ...port, deviceId: id, deviceOwner: 'compute:nova', status: 'ACTIVE' });
    }
  };

  return rehearsedPart(real, {
    servers: rehearsedPart(real.servers, {
      // nova treats names as regular expressions.
      ...readFrom({ service, kind: 'servers' }, servers, {
        name(wanted) {
          const pattern = new RegExp(String(wanted));
          return (server) => pattern.test((server as Server).name);
        },
      }),
      async create(desired) {
        const id = rehearsal.newId('server');
        const attached = (desired.blockDevices ?? []).flatMap(({ source, id: volumeId, deleteOnTermination }) =>
          source === 'volume' && volumeId !== undefined
            ? [{ id: volumeId, deleteOnTermination: deleteOnTermination === true }]
            : [],
        );
        made('server', servers, {
          id,
          name: desired.name,
          status: 'ACTIVE',
          taskState: undefined,
          vmState: 'active',
          powerState: 1,
          fault: undefined,
          addresses: await addressesOf(desired),
          imageId: desired.imageId,
          flavor: { id: desired.flavorId, name: undefined, vcpus: undefined, ram: undefined, disk: undefined },
          keyName: desired.keyName,
          metadata: desired.metadata ?? {},
          tags: desired.tags ?? [],
          availabilityZone: desired.availabilityZone,
          hostId: undefined,
          configDrive: desired.configDrive ?? false,
          securityGroupNames: [],
          volumes: attached,
          serverGroupIds: desired.serverGroupId === undefined ? [] : [desired.serverGroupId],
          projectId: rehearsal.projectId,
          userId: '',
          description: desired.description,
          locked: false,
          created: rehearsal.now(),
          updated: rehearsal.now(),
          launchedAt: rehearsal.now(),
        });
        await plug(id, desired);
        return { id };
      },
      async delete(id) {
        const server = await servers.get(id).catch(() => undefined);
        const isThere = await deleted('server', servers, id);
        for (const volume of server?.volumes ?? []) {
          if (volume.deleteOnTermination) await deleted('volume', volumes, volume.id);
        }
        return isThere;
      },
    }),
    serverGroups: rehearsedPart(real.serverGroups, {
      ...readFrom({ service, kind: 'server_groups' }, serverGroups),
      async create({ name, policy }) {
        return made('serverGroup', serverGroups, { id: rehearsal.newId('server-group'), name, policy, members: [] });
      },
      delete: (id) => deleted('serverGroup', serverGroups, id),
    }),
  });
}
