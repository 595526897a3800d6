import {
  asJson,
  type JsonObject,
  type ListMeta,
  type TableColumn,
  type TablePrinter,
  type UnstructuredObject,
} from '../../machinery/index.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Renders the `Table` that kubectl prints: the columns once, and one row per object. */
export function renderTable(options: {
  printer: TablePrinter;
  objects: readonly UnstructuredObject[];
  metadata: ListMeta;
  includeObject: IncludeObject;
  nowMs: number;
  /** false for watch events after the first */
  withColumns: boolean;
}): JsonObject {
  const { printer } = options;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata as JsonObject,
    columnDefinitions: options.withColumns ? printer.columns.map(renderColumn) : null,
    rows: options.objects.map((object) => renderRow(object, options)),
  };
}

export function renderRow(
  object: UnstructuredObject,
  { printer, includeObject, nowMs }: { printer: TablePrinter; includeObject: IncludeObject; nowMs: number },
): JsonObject {
  return { cells: printer.row(object, nowMs), object: renderRowObject(object, includeObject) };
}

function renderColumn(column: TableColumn): JsonObject {
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description: column.description ?? '',
    priority: column.priority ?? 0,
  };
}

function renderRowObject(object: UnstructuredObject, include: IncludeObject): JsonObject | null {
  if (include === 'None') return null;
  return include === 'Object' ? asJson(object) : partialMetadata(object);
}

/** Returns only the metadata, for metadata informers and table rows. */
export function partialMetadata(object: UnstructuredObject): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: asJson(object.metadata),
  };
}

export function parseIncludeObject(text: string | null): IncludeObject | undefined {
  if (text === null || text === '' || text === 'Metadata') return 'Metadata';
  return text === 'None' || text === 'Object' ? text : undefined;
}
