import { must } from '../../machinery/index.ts';
import type { State } from './state/state.ts';
import type { Row, Table } from './state/table.ts';

/** What a project may have of a service, where it differs from the service's default. */
interface QuotaRow extends Row {
  readonly limits: Readonly<Record<string, number>>;
}

/** A request that does not fit. */
export interface Excess {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly limit: number;
}

interface Ledger {
  readonly defaults: Readonly<Record<string, number>>;
  readonly used: (projectId: string, resource: string) => number;
}

/** No project: its rows have a slash after the service. */
const everybody = (service: string): string => `${service}:defaults`;

/**
 * Limits by project and service. What is used is counted from what exists, inside the same transaction that makes more:
 * there is no reservation that could be forgotten. -1 stands for no limit.
 */
export class Quotas {
  readonly #rows: Table<QuotaRow>;
  readonly #ledgers = new Map<string, Ledger>();

  constructor(state: State) {
    this.#rows = state.table<QuotaRow>('quotas');
  }

  /** A service says what it limits, how much by default, and how to count what is there. */
  declare(
    service: string,
    defaults: Readonly<Record<string, number>>,
    used: (projectId: string, resource: string) => number,
  ): void {
    this.#ledgers.set(service, { defaults, used });
  }

  limits(service: string, projectId: string): Record<string, number> {
    return { ...this.defaults(service), ...this.#rows.get(`${service}/${projectId}`)?.limits };
  }

  limit(service: string, projectId: string, resource: string): number {
    const own = this.#rows.get(`${service}/${projectId}`)?.limits[resource];
    return own ?? this.defaults(service)[resource] ?? -1;
  }

  used(service: string, projectId: string, resource: string): number {
    return this.#ledger(service).used(projectId, resource);
  }

  /** The first of the desired amounts that does not fit, or undefined. */
  excess(service: string, projectId: string, desired: Readonly<Record<string, number>>): Excess | undefined {
    for (const resource in desired) {
      const requested = must(desired[resource], 'desired[resource]');
      const limit = this.limit(service, projectId, resource);
      if (limit < 0 || requested <= 0) continue;
      const used = this.used(service, projectId, resource);
      if (used + requested > limit) return { resource, requested, used, limit };
    }
    return undefined;
  }

  /** Changes limits of a project; inside a transaction. */
  set(service: string, projectId: string, limits: Readonly<Record<string, number>>): void {
    const id = `${service}/${projectId}`;
    const row = this.#rows.get(id);
    if (row) this.#rows.update(id, { limits: { ...row.limits, ...limits } });
    else this.#rows.insert({ id, limits: { ...limits } });
  }

  /** Back to the defaults; inside a transaction. */
  reset(service: string, projectId: string): void {
    this.#rows.delete(`${service}/${projectId}`);
  }

  /** the projects whose limits somebody changed */
  changedProjects(service: string): string[] {
    const prefix = `${service}/`;
    const projects: string[] = [];
    for (const { id } of this.#rows.all()) if (id.startsWith(prefix)) projects.push(id.slice(prefix.length));
    return projects;
  }

  /** What a project may have whose limits nobody changed. */
  defaults(service: string): Readonly<Record<string, number>> {
    const { defaults } = this.#ledger(service);
    const changed = this.#rows.get(everybody(service))?.limits;
    return changed ? { ...defaults, ...changed } : defaults;
  }

  /** Changes limits of all projects that have none of their own; inside a transaction. */
  setDefaults(service: string, limits: Readonly<Record<string, number>>): void {
    const id = everybody(service);
    const row = this.#rows.get(id);
    if (row) this.#rows.update(id, { limits: { ...row.limits, ...limits } });
    else this.#rows.insert({ id, limits: { ...limits } });
  }

  #ledger(service: string): Ledger {
    const ledger = this.#ledgers.get(service);
    if (!ledger) throw new Error(`service ${service} declared no quotas`);
    return ledger;
  }
}
