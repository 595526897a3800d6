export interface MediaRange {
  type: string;
  parameters: Readonly<Record<string, string>>;
}

const parsed = new Map<string, readonly MediaRange[]>();
const parsedLimit = 500;
const longestRemembered = 500;

/** Parses an Accept or Content-Type header. Clients send few distinct values, so results are cached. */
export function parseMediaRanges(header: string): readonly MediaRange[] {
  const known = parsed.get(header);
  if (known) return known;
  const ranges = header
    .split(',')
    .map(parseRange)
    .filter((range): range is MediaRange & { quality: number } => range !== undefined && range.quality > 0);
  // The sort is stable, so equal qualities keep the order of the header.
  ranges.sort((a, b) => b.quality - a.quality);
  if (parsed.size < parsedLimit && header.length <= longestRemembered) parsed.set(header, ranges);
  return ranges;
}

function parseRange(text: string): (MediaRange & { quality: number }) | undefined {
  const [type, ...rest] = text.split(';');
  const name = type?.trim().toLowerCase() ?? '';
  if (name === '') return undefined;
  const parameters: Record<string, string> = {};
  let quality = 1;
  for (const item of rest) {
    const equals = item.indexOf('=');
    if (equals < 0) continue;
    const key = item.slice(0, equals).trim().toLowerCase();
    const value = item
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1');
    if (key === 'q') quality = Number(value) || 0;
    else parameters[key] = value;
  }
  return { type: name, parameters, quality };
}

export type Encoding = 'json' | 'yaml' | 'protobuf';

export interface Representation {
  as: 'object' | 'table' | 'partial';
  encoding: Encoding;
  /** indented JSON for people with curl */
  pretty: boolean;
}

const encodings: ReadonlyMap<string, Encoding> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
  ['*/*', 'json'],
  ['application/*', 'json'],
]);

/**
 * Returns the first acceptable representation that the server supports; undefined means 406. Protobuf is used only if
 * JSON is not acceptable, because every client that offers both reads both, and objects are stored as JSON.
 */
export function chooseRepresentation(
  accept: string | undefined,
  options: { pretty: boolean; protobuf: boolean; table?: boolean },
): Representation | undefined {
  const { pretty } = options;
  if (accept === undefined || accept === '') return { as: 'object', encoding: 'json', pretty };
  let protobuf: Representation | undefined;
  for (const range of parseMediaRanges(accept)) {
    const encoding = encodings.get(range.type);
    if (!encoding) continue;
    const shape = shapeOf(range);
    if (!shape || (shape === 'table' && options.table === false)) continue;
    if (encoding !== 'protobuf') return { as: shape, encoding, pretty };
    if (shape === 'object' && options.protobuf) protobuf ??= { as: shape, encoding, pretty };
  }
  return protobuf;
}

function shapeOf(range: MediaRange): Representation['as'] | undefined {
  const { as, g, v } = range.parameters;
  if (as === undefined) return 'object';
  if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined;
  if (as === 'Table') return 'table';
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'partial';
  return undefined;
}
