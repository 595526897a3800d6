import { humanDuration, type KubeObject, type TableColumn } from '../../machinery/index.ts';

export const nameColumn: TableColumn = { name: 'Name', type: 'string', format: 'name', priority: 0 };
export const ageColumn: TableColumn = { name: 'Age', type: 'string', priority: 0 };
/** Columns of kinds that have no printer upstream. */
export const createdAtColumns: readonly TableColumn[] = [nameColumn, { name: 'Created At', type: 'date', priority: 0 }];

export function column(name: string, type: TableColumn['type'] = 'string'): TableColumn {
  return { name, type, priority: 0 };
}

/** Returns a column of `-o wide`. */
export function wideColumn(name: string, type: TableColumn['type'] = 'string'): TableColumn {
  return { name, type, priority: 1 };
}

/** Formats the time since a timestamp, `<unknown>` without one. */
export function since(timestamp: string | null | undefined, nowMs: number): string {
  return timestamp ? humanDuration(nowMs - Date.parse(timestamp)) : '<unknown>';
}

export function age(object: KubeObject, nowMs: number): string {
  return since(object.metadata.creationTimestamp, nowMs);
}

export function createdAtRow(object: KubeObject): string[] {
  return [object.metadata.name ?? '', object.metadata.creationTimestamp ?? ''];
}

/** Formats labels as `a=b,c=d`, sorted by key; `<none>` without labels. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(labels ?? {}).sort();
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels?.[key]}`).join(',');
}

/** Joins at most `max` items and appends the number of omitted ones. */
export function firstOf(items: readonly string[], max: number, empty: string): string {
  if (items.length === 0) return empty;
  const shown = items.slice(0, max).join(',');
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown;
}

export interface NamedImage {
  name: string;
  image?: string;
}

export function containerCells(containers: readonly NamedImage[] | undefined): [names: string, images: string] {
  const list = containers ?? [];
  return [list.map((container) => container.name).join(','), list.map((container) => container.image ?? '').join(',')];
}
