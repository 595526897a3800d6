import type { Random } from '../../machinery/index.ts';
import type { Table } from '../core/state/table.ts';
import { SubnetAddresses } from './addressing/pools.ts';
import type { PortRow, SubnetRow } from './rows.ts';

/**
 * Free addresses by subnet. It derives from subnets and ports and follows rollbacks and loads. A subnet's part is built
 * on first use.
 */
export class AddressBook {
  readonly #pages = new Map<string, SubnetAddresses>();
  readonly #random: Random;
  #ports: Table<PortRow> | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Sets the table of ports, which must have an index `subnet`. */
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
    // After a rollback the pools may be different.
    removed: ({ id }) => void this.#pages.delete(id),
  };

  /** Returns a free address that is not reserved, or undefined if the pools are exhausted. */
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
