import type { SimulatedCloud } from '../../src/simulator/index.ts';

/** Tables of the simulated cloud, with columns named as in its services. */
interface Rows {
  readonly networks: NamedRow;
  readonly subnets: NamedRow;
  readonly routers: NamedRow;
  readonly ports: PortRow;
  readonly securityGroups: NamedRow;
  readonly floatingIps: FloatingIpRow;
  readonly loadBalancers: LoadBalancerRow;
  readonly servers: ServerRow;
  readonly volumes: LabelledRow;
}

interface NamedRow {
  readonly id: string;
  readonly name?: string | null;
  readonly description?: string | null;
}

interface PortRow extends NamedRow {
  readonly device_id: string;
  readonly device_owner: string;
}

interface FloatingIpRow extends NamedRow {
  readonly floating_ip_address: string;
  readonly port_id: string | null;
}

interface LoadBalancerRow extends NamedRow {
  readonly vip_port_id: string;
}

interface LabelledRow extends NamedRow {
  readonly metadata: Readonly<Record<string, string>>;
}

interface ServerRow extends LabelledRow {
  /** base64 */
  readonly userData: string;
}

const tableNames: Readonly<Record<keyof Rows, string>> = {
  networks: 'network.networks',
  subnets: 'network.subnets',
  routers: 'network.routers',
  ports: 'network.ports',
  securityGroups: 'network.security_groups',
  floatingIps: 'network.floating_ips',
  loadBalancers: 'loadbalancer.loadbalancers',
  servers: 'servers',
  volumes: 'volumes',
};

/** Reads the cloud's tables directly, because API requests would cost more than the checks. */
export interface CloudRows {
  /** current rows of a table, which change in place */
  of<K extends keyof Rows>(kind: K): readonly Rows[K][];
  /** unchanged while no row changes */
  revision(): number;
}

export function cloudRows({ core }: SimulatedCloud): CloudRows {
  const all = new Map([...core.state.tables()].map((table) => [table.name, table]));
  const tableOf = (kind: keyof Rows): { version: number; all(): Iterable<unknown> } => {
    const table = all.get(tableNames[kind]);
    if (!table) throw new Error(`the cloud has no table ${tableNames[kind]}`);
    return table;
  };
  const tables = (Object.keys(tableNames) as (keyof Rows)[]).map(tableOf);
  return {
    of: <K extends keyof Rows>(kind: K) => [...tableOf(kind).all()] as Rows[K][],
    revision: () => tables.reduce((sum, { version }) => sum + version, 0),
  };
}
