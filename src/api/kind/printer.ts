import {
  compileJsonPath,
  humanDuration,
  type JsonValue,
  type TableColumn,
  type TablePrinter,
} from '../../machinery/index.ts';

/** A column of `kubectl get`, as in a CustomResourceDefinition. */
export interface PrinterColumn {
  name: string;
  type: TableColumn['type'];
  jsonPath: string;
  /** 0 is always shown, greater values only with -o wide */
  priority?: number;
  description?: string;
}

const nameColumn: TableColumn = { name: 'Name', type: 'string', format: 'name', description: 'name of the object' };
export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Priority that Cluster API gives to -o wide columns. */
export const wide = 10;

export function textColumn(name: string, jsonPath: string, priority?: number): PrinterColumn {
  return column('string', name, jsonPath, priority);
}

export function countColumn(name: string, jsonPath: string, priority?: number): PrinterColumn {
  return column('integer', name, jsonPath, priority);
}

export function booleanColumn(name: string, jsonPath: string): PrinterColumn {
  return column('boolean', name, jsonPath, undefined);
}

export function conditionColumn(name: string, type: string, priority?: number): PrinterColumn {
  return textColumn(name, `.status.conditions[?(@.type=="${type}")].status`, priority);
}

function column(
  type: TableColumn['type'],
  name: string,
  jsonPath: string,
  priority: number | undefined,
): PrinterColumn {
  return priority === undefined ? { name, type, jsonPath } : { name, type, jsonPath, priority };
}

/** Prints rows from columns like kube-apiserver does for custom resources. Without columns only the age is shown. */
export function printerFromColumns(columns: readonly PrinterColumn[]): TablePrinter {
  const shown = columns.length === 0 ? [ageColumn] : columns;
  const cells = shown.map(({ type, jsonPath }) => ({ type, path: compileJsonPath(jsonPath) }));
  return {
    columns: [
      nameColumn,
      ...shown.map(({ name, type, priority, description }) => ({
        name,
        type,
        ...(priority === undefined ? {} : { priority }),
        ...(description === undefined ? {} : { description }),
      })),
    ],
    row: (object, nowMs) => [
      object.metadata.name ?? '',
      ...cells.map(({ type, path }) => cell(type, path.find(object)[0], nowMs)),
    ],
  };
}

function cell(type: TableColumn['type'], value: JsonValue | undefined, nowMs: number): JsonValue {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : JSON.stringify(value);
    case 'date': {
      const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
      return Number.isNaN(at) ? '<invalid>' : humanDuration(nowMs - at);
    }
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
  }
}
