import type { Client } from '../../client/index.ts';
import type { Clock, PeerPolicy, Random } from '../../machinery/index.ts';
import type { SessionPool } from '../../openstack/index.ts';
import type { Manager } from '../../runtime/index.ts';
import { type ConnectWorkload, controllerSessions, createApplyOnce, createServedKinds } from '../shared/index.ts';
import { type AddonCharts, createAddonRenderer } from './addons.ts';
import { createCloudMemory } from './cloud/memory.ts';
import { latticeClusterController } from './controller.ts';
import { latticeFieldManager } from './names.ts';
import { ChildAccess } from './self/child-access.ts';
import type { ChildInstaller } from './self/installer.ts';

export interface LatticeControllersOptions {
  /** the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** of the add-ons every cluster gets */
  charts: AddonCharts;
  /** shared with others who use the same credentials; made here when absent */
  sessions?: SessionPool;
  /** lets clusters with endpoints manage themselves; absent: they stay here */
  self?: { connect: ConnectWorkload; installer: ChildInstaller };
  /** which clouds may be asked; default: any */
  peers?: PeerPolicy;
  /** asked before each request, see the fence of managers */
  permit?: () => void;
  /** handle only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** keys reconciled at the same time; default 4 */
  concurrency?: number;
}

/** Adds the controller of LatticeClusters to a manager; answers how to end what was opened here. */
export function setupLatticeControllers(
  manager: Manager,
  options: LatticeControllersOptions,
): { close(): Promise<void> } {
  const { client, clock, random, charts, peers, permit, watchFilter, concurrency, self } = options;
  const access = self && new ChildAccess(self.connect);
  const sessions =
    options.sessions ?? controllerSessions({ clock, random, ...(peers && { peers }), ...(permit && { permit }) });
  manager.add(
    latticeClusterController({
      cache: manager.reader,
      clock,
      sessions,
      kinds: createServedKinds(client),
      applied: createApplyOnce(latticeFieldManager),
      render: createAddonRenderer(charts),
      memory: createCloudMemory(),
      ...(self && access && { self: { access, installer: self.installer, random } }),
      ...(watchFilter !== undefined && { watchFilter }),
      ...(concurrency !== undefined && { concurrency }),
    }),
  );
  return {
    async close() {
      access?.close();
      if (!options.sessions) await sessions.close();
    },
  };
}
