import type { Core } from '../core/core.ts';
import type { Table } from '../core/state/table.ts';
import { zulu } from '../core/time-formats.ts';
import type { Values } from './attributes/attribute.ts';
import type { StandardRow } from './resource.ts';
import { createTables, type NetworkTables } from './tables.ts';

/** State of neutron and functions its parts share. */
export interface Neutron extends NetworkTables {
  readonly core: Core;
  /** common columns of a new row */
  standard(values: Values): NewStandard;
  /** Sets a floating IP to ACTIVE or DOWN shortly after its port changed. */
  settleFloatingIp(id: string): void;
  /** Changes a row, increments its revision and sets the update time. */
  change<R extends StandardRow>(table: Table<R>, row: Readonly<R>, changes: Partial<Omit<R, 'id'>>): Readonly<R>;
}

type NewStandard = Pick<
  StandardRow,
  'id' | 'tenant_id' | 'description' | 'revision_number' | 'created_at' | 'updated_at'
> & { readonly tags: readonly string[] };

const noTags: readonly string[] = [];

const settleJob = 'network.floatingip.settle';

export function createNeutron(core: Core): Neutron {
  const tables = createTables(core);
  core.timings.declare({ [settleJob]: [100, 300] });
  core.jobs.define(settleJob, (id) => {
    const floating = tables.floatingIps.get(id);
    const isUsed = floating?.port_id != null || tables.portForwardings.count('floatingIp', id) > 0;
    if (floating) tables.floatingIps.update(id, { status: isUsed ? 'ACTIVE' : 'DOWN' });
  });
  return {
    ...tables,
    core,
    settleFloatingIp(id) {
      core.jobs.cancel(settleJob, id);
      core.jobs.schedule(core.timings.sample(settleJob), settleJob, id);
    },
    standard(values) {
      const now = core.now();
      return {
        id: core.ids.uuid(),
        tenant_id: (values['tenant_id'] as string | undefined) ?? '',
        description: values['description'] === undefined ? '' : (values['description'] as string | null),
        tags: noTags,
        revision_number: 0,
        created_at: now,
        updated_at: now,
      };
    },
    change(table, row, changes) {
      // The caller passes a fresh object, so it can be changed in place. A copy would cost more than the update.
      const counted = changes as { revision_number: number; updated_at: number };
      counted.revision_number = row.revision_number + 1;
      counted.updated_at = core.now();
      return table.update(row.id, changes);
    },
  };
}

/** Renders the times and the revision. */
export function standardView(row: StandardRow): {
  created_at: string;
  updated_at: string;
  revision_number: number;
} {
  return {
    created_at: zulu(row.created_at),
    updated_at: zulu(row.updated_at),
    revision_number: row.revision_number,
  };
}
