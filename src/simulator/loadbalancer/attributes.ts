import { must } from '../../machinery/index.ts';
import { seconds } from '../core/time-formats.ts';
import type { Field, Shape, Values } from './body/shape.ts';
import type { PartRow } from './rows.ts';

/** What there is to say of an attribute, once for all that follows from it: bodies, filters, columns and views. */
export interface Attribute extends Field {
  /** what null stands for, and absence in a new row; null unless said */
  readonly empty?: unknown;
  /** cannot be changed later */
  readonly fixed?: boolean;
  /** lists can be filtered and sorted by it */
  readonly filter?: boolean;
  /** `none`: of bodies only; `hidden`: a column that answers show in another way */
  readonly column?: 'none' | 'hidden';
}

/** In the order octavia looks at them, which decides what a body with several faults is refused for. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** What the body of an update may have; `order` where it is not that of a creation. */
export function updateShape(attributes: Attributes, order: readonly string[] = Object.keys(attributes)): Shape {
  const changeable = order.filter((name) => !must(attributes[name], 'attributes[name]').fixed);
  return Object.fromEntries(
    changeable.map((name) => [name, { read: must(attributes[name], 'attributes[name]').read }]),
  );
}

export function filtersOf(attributes: Attributes): string[] {
  return Object.keys(attributes).filter((name) => must(attributes[name], 'attributes[name]').filter);
}

/** The columns of a new row that the body decides on. */
export function newColumns<R extends PartRow>(attributes: Attributes, values: Values): Omit<R, keyof PartRow> {
  const columns: Record<string, unknown> = {};
  for (const [name, { column, empty = null }] of Object.entries(attributes)) {
    if (column !== 'none') columns[name] = values[name] ?? empty;
  }
  return columns as Omit<R, keyof PartRow>;
}

/** The columns an update changes: null puts an attribute back to what it is without being asked for. */
export function changedColumns<R extends PartRow>(attributes: Attributes, values: Values): Partial<Omit<R, 'id'>> {
  const changes = Object.entries(values).map(([name, value]) => [
    name,
    value ?? must(attributes[name], 'attributes[name]').empty ?? null,
  ]);
  return Object.fromEntries(changes) as Partial<Omit<R, 'id'>>;
}

/** A row as the wire shows it, but for what refers to other objects. */
export function viewColumns<R extends PartRow>(attributes: Attributes, row: Readonly<R>): Record<string, unknown> {
  const { id, provisioning_status, operating_status, project_id } = row;
  const view: Record<string, unknown> = { id };
  for (const [name, { column }] of Object.entries(attributes)) {
    if (column === undefined) view[name] = row[name as keyof R];
  }
  return { ...view, provisioning_status, operating_status, project_id, ...times(row), tenant_id: project_id };
}

/** The times as the wire shows them. */
function times({ created_at, updated_at }: Pick<PartRow, 'created_at' | 'updated_at'>): {
  created_at: string;
  updated_at: string | null;
} {
  return { created_at: seconds(created_at), updated_at: updated_at === null ? null : seconds(updated_at) };
}
