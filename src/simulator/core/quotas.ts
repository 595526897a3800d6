import { must } from '../../machinery/index.ts';
import type { State } from './state/state.ts';
import type { Row, Table } from './state/table.ts';

/** Limits of a project in a service, where they differ from the defaults. */
interface QuotaRow extends Row {
  readonly limits: Readonly<Record<string, number>>;
}

/** A request above a quota. */
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

/** Id of the row of defaults. It cannot collide with a project, because their ids have a slash after the service. */
const everybody = (service: string): string => `${service}:defaults`;

/**
 * Limits by project and service. Usage is counted from existing resources, in the transaction that creates more, so
 * there are no reservations that could leak. -1 means unlimited.
 */
export class Quotas {
  readonly #rows: Table<QuotaRow>;
  readonly #ledgers = new Map<string, Ledger>();

  constructor(state: State) {
    this.#rows = state.table<QuotaRow>('quotas');
  }

  /** Declares the limited resources of a service, their defaults, and how to count usage. */
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

  /** Returns the first resource whose desired amount exceeds the quota, or undefined. */
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

  /** Changes limits of a project. Must run inside a transaction. */
  set(service: string, projectId: string, limits: Readonly<Record<string, number>>): void {
    const id = `${service}/${projectId}`;
    const row = this.#rows.get(id);
    if (row) this.#rows.update(id, { limits: { ...row.limits, ...limits } });
    else this.#rows.insert({ id, limits: { ...limits } });
  }

  /** Resets a project to the defaults. Must run inside a transaction. */
  reset(service: string, projectId: string): void {
    this.#rows.delete(`${service}/${projectId}`);
  }

  /** projects with limits of their own */
  changedProjects(service: string): string[] {
    const prefix = `${service}/`;
    const projects: string[] = [];
    for (const { id } of this.#rows.all()) if (id.startsWith(prefix)) projects.push(id.slice(prefix.length));
    return projects;
  }

  /** Returns the limits of projects without limits of their own. */
  defaults(service: string): Readonly<Record<string, number>> {
    const { defaults } = this.#ledger(service);
    const changed = this.#rows.get(everybody(service))?.limits;
    return changed ? { ...defaults, ...changed } : defaults;
  }

  /** Changes the default limits. Must run inside a transaction. */
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
