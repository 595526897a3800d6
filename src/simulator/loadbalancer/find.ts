import { need } from '../core/resource.ts';
import type { Row, Table } from '../core/state/table.ts';
import { notFound, type ThingName } from './refusals.ts';

export function findRow<R extends Row>(table: Table<R>, thing: ThingName, id: string): Readonly<R> {
  return need(table, id, () => notFound(thing, id));
}
