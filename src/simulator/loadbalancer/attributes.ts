import { must } from '../../machinery/index.ts';
import { seconds } from '../core/time-formats.ts';
import type { Field, Shape, Values } from './body/shape.ts';
import type { PartRow } from './rows.ts';

/** Description of an attribute, from which bodies, filters, columns and views are derived. */
export interface Attribute extends Field {
  /** value for null, and for absence in a new row; default: null */
  readonly empty?: unknown;
  /** immutable after creation */
  readonly fixed?: boolean;
  /** usable in filters and sort keys of lists */
  readonly filter?: boolean;
  /** `none`: only in bodies; `hidden`: a column that answers render differently */
  readonly column?: 'none' | 'hidden';
}

/** In the order octavia validates them. The order decides which of several errors is reported. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** Shape of an update body. `order` overrides the order of creation. */
export function updateShape(attributes: Attributes, order: readonly string[] = Object.keys(attributes)): Shape {
  const changeable = order.filter((name) => !must(attributes[name], 'attributes[name]').fixed);
  return Object.fromEntries(
    changeable.map((name) => [name, { read: must(attributes[name], 'attributes[name]').read }]),
  );
}

export function filtersOf(attributes: Attributes): string[] {
  return Object.keys(attributes).filter((name) => must(attributes[name], 'attributes[name]').filter);
}

/** Columns of a new row that the body sets. */
export function newColumns<R extends PartRow>(attributes: Attributes, values: Values): Omit<R, keyof PartRow> {
  const columns: Record<string, unknown> = {};
  for (const [name, { column, empty = null }] of Object.entries(attributes)) {
    if (column !== 'none') columns[name] = values[name] ?? empty;
  }
  return columns as Omit<R, keyof PartRow>;
}

/** Columns that an update changes. Null resets an attribute to its default. */
export function changedColumns<R extends PartRow>(attributes: Attributes, values: Values): Partial<Omit<R, 'id'>> {
  const changes = Object.entries(values).map(([name, value]) => [
    name,
    value ?? must(attributes[name], 'attributes[name]').empty ?? null,
  ]);
  return Object.fromEntries(changes) as Partial<Omit<R, 'id'>>;
}

/** Renders a row, except references to other objects. */
export function viewColumns<R extends PartRow>(attributes: Attributes, row: Readonly<R>): Record<string, unknown> {
  const { id, provisioning_status, operating_status, project_id } = row;
  const view: Record<string, unknown> = { id };
  for (const [name, { column }] of Object.entries(attributes)) {
    if (column === undefined) view[name] = row[name as keyof R];
  }
  return { ...view, provisioning_status, operating_status, project_id, ...times(row), tenant_id: project_id };
}

/** Renders the times of a row. */
function times({ created_at, updated_at }: Pick<PartRow, 'created_at' | 'updated_at'>): {
  created_at: string;
  updated_at: string | null;
} {
  return { created_at: seconds(created_at), updated_at: updated_at === null ? null : seconds(updated_at) };
}
