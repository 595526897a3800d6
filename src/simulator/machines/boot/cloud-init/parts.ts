import { gunzipSync } from 'node:zlib';
import { parseMime } from './mime.ts';

/** Kind of a user data part, from its first line or content type. */
export type PartKind = 'cloud-config' | 'archive' | 'script' | 'boothook' | 'include' | 'part-handler' | 'jinja';

export interface UserDataPart {
  readonly kind: PartKind;
  /** cloud-init's number of the part, for example part-001 */
  readonly name: string;
  readonly text: string;
}

export interface UserData {
  readonly parts: readonly UserDataPart[];
  /** cloud-init's warnings about unusable parts, in the format `file.py[LEVEL]: message` */
  readonly warnings: readonly string[];
}

/** Kinds by the start of the first line. The longest match wins. */
const firstLines: readonly (readonly [string, PartKind])[] = [
  ['#cloud-config-archive', 'archive'],
  ['#cloud-config', 'cloud-config'],
  ['## template: jinja', 'jinja'],
  ['#include-once', 'include'],
  ['#include', 'include'],
  ['#part-handler', 'part-handler'],
  ['#cloud-boothook', 'boothook'],
  ['#!', 'script'],
];

const contentTypes: Readonly<Record<string, PartKind>> = {
  'text/cloud-config': 'cloud-config',
  'text/cloud-config-archive': 'archive',
  'text/x-shellscript': 'script',
  'text/cloud-boothook': 'boothook',
  'text/x-include-url': 'include',
  'text/x-include-once-url': 'include',
  'text/part-handler': 'part-handler',
  'text/jinja2': 'jinja',
};

export function kindOfText(text: string): PartKind | undefined {
  for (const [beginning, kind] of firstLines) if (text.startsWith(beginning)) return kind;
  return undefined;
}

const none: UserData = { parts: [], warnings: [] };

/** Splits user data, compressed or not, into its parts. */
export function readUserData(data: Uint8Array | undefined): UserData {
  if (!data || data.length === 0) return none;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let text: string;
  try {
    text = decompressed(bytes);
  } catch (error) {
    return {
      parts: [],
      warnings: [`util.py[WARNING]: Failed decompressing user data: ${error instanceof Error ? error.message : ''}`],
    };
  }
  const collected: { parts: UserDataPart[]; warnings: string[] } = { parts: [], warnings: [] };
  collect(text, collected);
  return collected;
}

function decompressed(bytes: Buffer): string {
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8');
}

function collect(text: string, into: { parts: UserDataPart[]; warnings: string[] }): void {
  const mime = parseMime(text);
  if (mime) {
    for (const { contentType, fileName, body } of mime) {
      let content: string;
      try {
        content = decompressed(body);
      } catch {
        into.warnings.push(`user_data.py[WARNING]: Failed decompressing part ${fileName ?? ''}`);
        continue;
      }
      add(content, { kind: contentTypes[contentType] ?? kindOfText(content), contentType, fileName }, into);
    }
    return;
  }
  add(text, { kind: kindOfText(text), contentType: 'text/x-not-multipart', fileName: undefined }, into);
}

function add(
  text: string,
  { kind, contentType, fileName }: { kind: PartKind | undefined; contentType: string; fileName: string | undefined },
  into: { parts: UserDataPart[]; warnings: string[] },
): void {
  const name = fileName ?? `part-${String(into.parts.length + 1).padStart(3, '0')}`;
  switch (kind) {
    case undefined:
      if (text.trim() === '') return;
      into.warnings.push(
        `__init__.py[WARNING]: Unhandled ${contentType === 'text/x-not-multipart' ? 'non-multipart' : 'unknown content-type'} (${contentType}) userdata: 'b'${preview(text)}'...'`,
      );
      return;
    case 'include':
      // Includes cannot be fetched: simulated machines have no route to outside networks.
      into.warnings.push(
        `url_helper.py[WARNING]: Failed to fetch the URLs of an include part: a simulated machine has no way to ${preview(text.split('\n').slice(1).join(' ').trim()) || 'them'}`,
      );
      return;
    case 'part-handler':
      into.warnings.push(`__init__.py[WARNING]: Failed at registering python file: ${name}: there is no python here`);
      return;
    default:
      into.parts.push({ kind, name, text });
  }
}

function preview(text: string): string {
  return text.slice(0, 24).replaceAll('\n', '\\n');
}
