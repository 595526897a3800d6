import type { Random } from '../../machinery/index.ts';
import type { Table } from '../core/state/table.ts';
import { SubnetAddresses } from './addressing/pools.ts';
import type { PortRow, SubnetRow } from './rows.ts';

/**
 * Which addresses are free, subnet by subnet. It is computed from subnets and ports and kept in step with both, whatever
 * is undone or loaded; a subnet's part is made when it is first asked for.
 */
export class AddressBook {
  readonly #pages = new Map<string, SubnetAddresses>();
  readonly #random: Random;
  #ports: Table<PortRow> | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The ports that hold addresses; they have an index `subnet`. */
  follow(ports: Table<PortRow>): void {
    this.#ports = ports;
  }

  readonly ofPorts: { added(port: Readonly<PortRow>): void; removed(port: Readonly<PortRow>): void } = {
    added: ({ fixed_ips }) => {
      for (const { subnet_id, ip_address } of fixed_ips) this.#pages.get(subnet_id)?.take(ip_address);
    },
    removed: ({ fixed_ips }) => {
      for (const { subnet_id, ip_address } of fixed_ips) this.#pages.get(subnet_id)?.giveBack(ip_address);
    },
  };

  readonly ofSubnets: { added(subnet: Readonly<SubnetRow>): void; removed(subnet: Readonly<SubnetRow>): void } = {
    added: () => {},
    // Its pools may be other ones when it comes back.
    removed: ({ id }) => void this.#pages.delete(id),
  };

  /** An address nobody has and that is not reserved; undefined when the pools are exhausted. */
  choose(subnet: Readonly<SubnetRow>, reserved: readonly string[] = [], preferLowest = false): string | undefined {
    const page = this.#page(subnet);
    const lent = reserved.filter((address) => page.take(address));
    const address = page.choose(this.#random, { preferLowest });
    for (const each of lent) page.giveBack(each);
    return address;
  }

  free(subnet: Readonly<SubnetRow>): number {
    return this.#page(subnet).free;
  }

  #page(subnet: Readonly<SubnetRow>): SubnetAddresses {
    let page = this.#pages.get(subnet.id);
    if (!page) {
      page = new SubnetAddresses(subnet.ip_version, subnet.allocation_pools);
      for (const { fixed_ips } of this.#ports?.by('subnet', subnet.id) ?? []) {
        for (const { subnet_id, ip_address } of fixed_ips) if (subnet_id === subnet.id) page.take(ip_address);
      }
      this.#pages.set(subnet.id, page);
    }
    return page;
  }
}
