import {
  asJson,
  asUnstructured,
  encodeKubernetesProtobuf,
  formatYaml,
  type JsonObject,
  type JsonValue,
  jsonText,
  type ListMeta,
  type ProtobufRegistry,
  protobufMediaType,
  statusError,
  type TablePrinter,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { StoreRecord } from '../../store/index.ts';
import { Pace } from '../flow/index.ts';
import type { MaybePromise } from '../registry/index.ts';
import type { ListedPage } from '../service/reads.ts';
import type { Target, WrittenObject } from '../service/types.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { type IncludeObject, parseIncludeObject, partialMetadata, renderRow, renderTable } from '../table/table.ts';
import type { Exchange } from './exchange.ts';
import { itemText, listText } from './list-text.ts';
import { chooseRepresentation, type Representation } from './media-types.ts';

export interface RenderContext {
  nowMs: number;
  protobuf: ProtobufRegistry;
}

/** Negotiates the representation or throws a 406. Custom kinds have no protobuf form. */
export function negotiate(exchange: Exchange, custom: boolean): Representation {
  exchange.representation ??= chooseFor(exchange, { custom });
  return exchange.representation;
}

/** Like negotiate, for review kinds, which have no table columns. */
export function negotiateReview(exchange: Exchange): Representation {
  const options = { pretty: exchange.pretty, protobuf: true, table: false };
  const chosen = chooseRepresentation(exchange.header('accept'), options);
  if (chosen) return chosen;
  throw statusError.notAcceptable(
    `only the following media types are accepted: application/json, application/yaml, ${protobufMediaType}`,
  );
}

export function sendReview(exchange: Exchange, answer: UnstructuredObject, context: RenderContext): void {
  const representation = negotiateReview(exchange);
  const value = representation.as === 'partial' ? partialMetadata(answer) : asJson(answer);
  sendEncoded(exchange, 201, { value, representation }, context);
}

function chooseFor(exchange: Exchange, { custom }: { custom: boolean }): Representation {
  const chosen = chooseRepresentation(exchange.header('accept'), { pretty: exchange.pretty, protobuf: !custom });
  if (chosen) return chosen;
  const available = `application/json, application/yaml${custom ? '' : `, ${protobufMediaType}`}`;
  throw statusError.notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${available}`);
}

export function includeObjectOf(exchange: Exchange): IncludeObject {
  const include = parseIncludeObject(exchange.query.get('includeObject'));
  if (!include) {
    throw statusError.badRequest(`unrecognized includeObject value: "${exchange.query.get('includeObject')}"`);
  }
  return include;
}

/** Sends a value that is no stored object (reviews, scales, discovery) in the negotiated encoding. */
export function sendValue(
  exchange: Exchange,
  code: number,
  value: JsonObject,
  context: RenderContext,
  printer?: TablePrinter,
): void {
  const representation = chooseFor(exchange, { custom: false });
  if (representation.as !== 'table' || !printer) return sendEncoded(exchange, code, { value, representation }, context);
  const object = asUnstructured(value);
  sendEncoded(exchange, code, { value: tableOf(exchange, object, printer, context), representation }, context);
}

function sendEncoded(
  exchange: Exchange,
  code: number,
  { value, representation }: { value: JsonObject; representation: Representation },
  context: RenderContext,
): void {
  switch (representation.encoding) {
    case 'yaml':
      return exchange.send(code, 'application/yaml', formatYaml(value as JsonValue));
    case 'protobuf': {
      const bytes = encodeKubernetesProtobuf(asUnstructured(value), context.protobuf);
      return exchange.send(code, protobufMediaType, Buffer.from(bytes));
    }
    case 'json': {
      const text = jsonText(value, representation.pretty ? 2 : undefined);
      return exchange.send(code, 'application/json', `${text}\n`);
    }
  }
}

export function viewRecord(target: Target, record: StoreRecord<StoredObject>): MaybePromise<UnstructuredObject> {
  const { resource, version } = target;
  const object = resource.fromRecord(record);
  return object instanceof Promise
    ? object.then((hub) => resource.convert(hub, version.name))
    : resource.convert(object, version.name);
}

/** Tells whether the representation is the shape and encoding of stored objects. */
function isPlain({ as, encoding, pretty }: Representation): boolean {
  return as === 'object' && encoding === 'json' && !pretty;
}

/** Tells whether the stored text can be sent without parsing. */
export function servesText(target: Target, record: StoreRecord<StoredObject>, representation: Representation): boolean {
  return (
    isPlain(representation) && target.version === target.resource.storageVersion && target.resource.isDirect(record)
  );
}

export async function sendRecord(
  exchange: Exchange,
  target: Target,
  record: StoreRecord<StoredObject>,
  context: RenderContext,
): Promise<void> {
  const representation = negotiate(exchange, target.resource.isCustom);
  if (servesText(target, record, representation)) {
    return exchange.send(200, 'application/json', record.value.json);
  }
  sendObject(exchange, 200, { target, object: await viewRecord(target, record), representation }, context);
}

export function sendWritten(
  exchange: Exchange,
  code: number,
  target: Target,
  written: WrittenObject,
  context: RenderContext,
): MaybePromise<void> {
  const representation = negotiate(exchange, target.resource.isCustom);
  if (isPlain(representation) && written.json !== undefined && target.version === target.resource.storageVersion) {
    return exchange.send(code, 'application/json', written.json);
  }
  const object = target.resource.convert(written.object, target.version.name);
  if (!(object instanceof Promise)) return sendObject(exchange, code, { target, object, representation }, context);
  return object.then((converted) => sendObject(exchange, code, { target, object: converted, representation }, context));
}

function sendObject(
  exchange: Exchange,
  code: number,
  { target, object, representation }: { target: Target; object: UnstructuredObject; representation: Representation },
  context: RenderContext,
): void {
  switch (representation.as) {
    case 'table': {
      const table = tableOf(exchange, object, target.version.printer, context);
      return sendEncoded(exchange, code, { value: table, representation }, context);
    }
    case 'partial':
      return sendEncoded(exchange, code, { value: partialMetadata(object), representation }, context);
    case 'object':
      return sendEncoded(exchange, code, { value: asJson(object), representation }, context);
  }
}

function tableOf(
  exchange: Exchange,
  object: UnstructuredObject,
  printer: TablePrinter,
  context: RenderContext,
): JsonObject {
  return renderTable({
    printer,
    objects: [object],
    metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
    includeObject: includeObjectOf(exchange),
    nowMs: context.nowMs,
    withColumns: true,
  });
}

export async function sendList(
  exchange: Exchange,
  target: Target,
  page: ListedPage,
  context: RenderContext,
): Promise<void> {
  const representation = negotiate(exchange, target.resource.isCustom);
  const metadata: ListMeta = {
    resourceVersion: page.resourceVersion,
    ...(page.continue !== undefined && { continue: page.continue }),
    ...(page.remainingItemCount !== undefined && { remainingItemCount: page.remainingItemCount }),
  };
  const kind = representation.as === 'partial' ? 'PartialObjectMetadataList' : target.resource.definition.listKind;
  const apiVersion = representation.as === 'partial' ? 'meta.k8s.io/v1' : target.apiVersion;
  const start = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":${JSON.stringify(metadata)},"items":[`;
  // `every` is true for an empty list in any representation, so isPlain is checked, too.
  if (isPlain(representation) && page.records.every((record) => servesText(target, record, representation))) {
    return exchange.send(200, 'application/json', joinItems(start, page.records));
  }
  const { as, encoding } = representation;
  const rows = { printer: target.version.printer, includeObject: includeObjectOf(exchange), nowMs: context.nowMs };
  const shape = (object: UnstructuredObject): JsonObject => {
    if (as === 'table') return renderRow(object, rows);
    return as === 'partial' ? partialMetadata(object) : asJson(object);
  };
  const pace = new Pace();
  const texts: string[] = [];
  const objects: JsonObject[] = [];
  for (const record of page.records) {
    // Objects are converted and written one by one, so that a long list does not block other requests.
    const wait = pace.pause();
    if (wait) await wait;
    const view = viewRecord(target, record);
    const item = shape(view instanceof Promise ? await view : view);
    if (encoding === 'protobuf') objects.push(item);
    else texts.push(itemText(item, representation));
  }
  const head = { kind, apiVersion, metadata: metadata as JsonObject };
  if (encoding === 'protobuf')
    return sendEncoded(exchange, 200, { value: { ...head, items: objects }, representation }, context);
  const type = encoding === 'yaml' ? 'application/yaml' : 'application/json';
  if (as !== 'table') return exchange.send(200, type, listText(head, 'items', texts, representation));
  const { rows: _, ...columns } = renderTable({ ...rows, objects: [], metadata, withColumns: true });
  exchange.send(200, type, listText(columns, 'rows', texts, representation));
}

/** Joins a list from the stored texts, which is much faster than serializing the objects. */
function joinItems(start: string, records: readonly StoreRecord<StoredObject>[]): string {
  return `${start}${records.map(({ value }) => value.json).join(',')}]}\n`;
}
