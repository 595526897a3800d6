import type { Client } from '../../client/index.ts';
import type { Clock, PeerPolicy, Random } from '../../machinery/index.ts';
import type { SessionPool } from '../../openstack/index.ts';
import type { Logger, Manager } from '../../runtime/index.ts';
import {
  type ConnectWorkload,
  connectOverHttp,
  controllerSessions,
  createApplyOnce,
  createServedKinds,
} from '../shared/index.ts';
import { type AddonCharts, createAddonRenderer } from './addons.ts';
import { createCloudMemory } from './cloud/memory.ts';
import { latticeClusterController } from './controller.ts';
import type { AgentDials } from './link/agent.ts';
import { parentLink } from './link/agent-controller.ts';
import { Cell, type CellPlace } from './link/cell.ts';
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
  self?: SelfManagementOptions;
  /** how the cluster we run in reaches its parent; absent: it is no cluster that manages itself */
  agent?: AgentDials;
  log: Logger;
  /** which clouds may be asked; default: any */
  peers?: PeerPolicy;
  /** asked before each request, see the fence of managers */
  permit?: () => void;
  /** handle only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** keys reconciled at the same time; default 4 */
  concurrency?: number;
}

export interface SelfManagementOptions {
  readonly connect: ConnectWorkload;
  readonly installer: ChildInstaller;
  /** where clusters dial in; absent: they are dialled */
  readonly cell?: CellPlace;
  /** told before anything is sent: may refuse */
  fence?(connect: ConnectWorkload): ConnectWorkload;
}

/** Adds the controller of LatticeClusters to a manager; answers how to end what was opened here. */
export function setupLatticeControllers(
  manager: Manager,
  options: LatticeControllersOptions,
): { close(): Promise<void> } {
  const { client, clock, random, charts, peers, permit, watchFilter, concurrency, self, log } = options;
  const cell = self?.cell && makeCell(manager, options, self, self.cell);
  const access =
    self &&
    new ChildAccess(self.connect, {
      session: (name) => cell?.session(name),
      connectOver: (dial) => (self.fence ?? same)(connectOverHttp({ dial })),
    });
  const sessions =
    options.sessions ?? controllerSessions({ clock, random, ...(peers && { peers }), ...(permit && { permit }) });
  const parent = options.agent && parentLink(manager.reader, { client, clock, random, log, dials: options.agent });
  if (parent) manager.add(parent.controller);
  manager.add(
    latticeClusterController({
      cache: manager.reader,
      clock,
      sessions,
      kinds: createServedKinds(client),
      applied: createApplyOnce(latticeFieldManager),
      render: createAddonRenderer(charts),
      memory: createCloudMemory(),
      ...(self && access && { self: { access, installer: self.installer, random, ...(cell && { cell }) } }),
      ...(parent && { parent }),
      ...(watchFilter !== undefined && { watchFilter }),
      ...(concurrency !== undefined && { concurrency }),
    }),
  );
  return {
    async close() {
      access?.close();
      await cell?.close();
      if (!options.sessions) await sessions.close();
    },
  };
}

const same = (connect: ConnectWorkload): ConnectWorkload => connect;

function makeCell(
  { reader }: Manager,
  { client, clock, log }: LatticeControllersOptions,
  { installer }: SelfManagementOptions,
  place: CellPlace,
): Cell {
  return new Cell({
    client,
    cache: reader,
    clock,
    log,
    place,
    installation: (image, signal) => installer.objects(image, signal),
  });
}
