import {
  compileJsonPath,
  humanDuration,
  type JsonPath,
  type JsonValue,
  jsonText,
  type TableColumn,
  type TablePrinter,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { CrdColumn } from './types.ts';

const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique among objects of its kind in its namespace.',
};

const ageColumn: CrdColumn = {
  name: 'Age',
  type: 'date',
  description: 'Time since the server created the object.',
  jsonPath: '.metadata.creationTimestamp',
};

/** Builds the table of a custom kind: the name and its own columns, or the age if it has none. */
export function printerOf(columns: readonly CrdColumn[] | undefined): TablePrinter {
  const shown = columns && columns.length > 0 ? columns : [ageColumn];
  const cells = shown.map(compileColumn);
  return {
    columns: [nameColumn, ...shown.map(describeColumn)],
    row(object: UnstructuredObject, nowMs: number): JsonValue[] {
      const row: JsonValue[] = [object.metadata.name ?? ''];
      for (const cell of cells) row.push(cell(object, nowMs));
      return row;
    },
  };
}

function describeColumn(column: CrdColumn): TableColumn {
  return {
    name: column.name,
    type: column.type as TableColumn['type'],
    description: column.description || `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
    ...(column.format ? { format: column.format } : {}),
    ...(column.priority ? { priority: column.priority } : {}),
  };
}

type Cell = (object: UnstructuredObject, nowMs: number) => JsonValue;

function compileColumn(column: CrdColumn): Cell {
  let path: JsonPath;
  try {
    path = compileJsonPath(column.jsonPath);
  } catch {
    // kube-apiserver serves a kind with an invalid column path, too.
    return () => null;
  }
  // Only the first result is shown, because column paths should select one value.
  return (object, nowMs) => {
    const results = path.find(object);
    return results.length === 0 ? null : formatCell(column.type, results[0] ?? null, nowMs);
  };
}

function formatCell(type: string, value: JsonValue, nowMs: number): JsonValue {
  if (type === 'string') return formatText(value);
  if (value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? formatAge(value, nowMs) : null;
    default:
      return null;
  }
}

function formatText(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (value === null) return '<no value>';
  return typeof value === 'object' ? jsonText(sortKeys(value)) : String(value);
}

/** Go serializes map keys in sorted order. */
function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const sorted: Record<string, JsonValue> = {};
  for (const key of Object.keys(value).sort()) sorted[key] = sortKeys(value[key] ?? null);
  return sorted;
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

function formatAge(text: string, nowMs: number): string {
  if (text === '' || text === 'null') return '<unknown>';
  const time = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? '<invalid>' : humanDuration(nowMs - time);
}
