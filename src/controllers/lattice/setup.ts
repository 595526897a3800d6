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
  /** client of the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** charts of the add-ons */
  charts: AddonCharts;
  /** shared with other users of the same credentials; created when absent */
  sessions?: SessionPool;
  /** enables self-management of clusters with endpoints; without it their objects stay here */
  self?: SelfManagementOptions;
  /** dials the parent of the cluster this process runs in; absent if that is not self-managed */
  agent?: AgentDials;
  log: Logger;
  /** clouds that may be contacted; default any */
  peers?: PeerPolicy;
  /** called before each request; throws to prevent it (see the manager's fence) */
  permit?: () => void;
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
  /** concurrent reconciles; default 4 */
  concurrency?: number;
}

export interface SelfManagementOptions {
  readonly connect: ConnectWorkload;
  readonly installer: ChildInstaller;
  /** endpoints that clusters dial; without it the parent dials the clusters */
  readonly cell?: CellPlace;
  /** wraps connections with a check that can refuse every request */
  fence?(connect: ConnectWorkload): ConnectWorkload;
}

/** Adds the LatticeCluster controller to a manager; returns a function that closes what was opened here. */
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
