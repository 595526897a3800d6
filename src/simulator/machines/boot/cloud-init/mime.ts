import { must } from '../../../../machinery/index.ts';

export interface MimePart {
  readonly contentType: string;
  readonly fileName: string | undefined;
  readonly body: Buffer;
}

const headerLine = /^[\w-]+:/;

/** Returns the parts of a MIME message, including those of nested messages, or undefined if the text is not MIME. */
export function parseMime(text: string): MimePart[] | undefined {
  const normal = text.replaceAll('\r\n', '\n');
  if (!/^(?:mime-version|content-type):/i.test(normal)) return undefined;
  const { headers, body } = split(normal);
  const type = headers.get('content-type') ?? 'text/plain';
  const parts: MimePart[] = [];
  walk(type, headers, body, parts);
  return parts;
}

function walk(type: string, headers: ReadonlyMap<string, string>, body: string, into: MimePart[]): void {
  const boundary = parameter(type, 'boundary');
  if (type.toLowerCase().startsWith('multipart/') && boundary !== undefined) {
    for (const section of sections(body, boundary)) {
      const inner = split(section);
      walk(inner.headers.get('content-type') ?? 'text/plain', inner.headers, inner.body, into);
    }
    return;
  }
  into.push({
    contentType: (type.split(';')[0] ?? '').trim().toLowerCase(),
    fileName: parameter(headers.get('content-disposition') ?? '', 'filename'),
    body: decode(body, headers.get('content-transfer-encoding') ?? ''),
  });
}

function split(text: string): { headers: Map<string, string>; body: string } {
  const headers = new Map<string, string>();
  const lines = text.split('\n');
  let at = 0;
  let last = '';
  for (; at < lines.length && lines[at] !== ''; at++) {
    const line = must(lines[at], 'lines[at]');
    if (/^\s/.test(line)) headers.set(last, `${headers.get(last) ?? ''} ${line.trim()}`);
    else if (headerLine.test(line)) {
      const colon = line.indexOf(':');
      last = line.slice(0, colon).toLowerCase();
      headers.set(last, line.slice(colon + 1).trim());
    } else break;
  }
  return { headers, body: lines.slice(lines[at] === '' ? at + 1 : at).join('\n') };
}

function sections(body: string, boundary: string): string[] {
  const found: string[] = [];
  let current: string[] | undefined;
  for (const line of body.split('\n')) {
    const mark = line.trimEnd();
    if (mark !== `--${boundary}` && mark !== `--${boundary}--`) {
      current?.push(line);
      continue;
    }
    if (current) found.push(current.join('\n'));
    if (mark.endsWith('--') && mark !== `--${boundary}`) return found;
    current = [];
  }
  if (current) found.push(current.join('\n'));
  return found;
}

function parameter(header: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;\\s]*))`, 'i').exec(header);
  return found ? (found[1] ?? found[2]) : undefined;
}

function decode(body: string, encoding: string): Buffer {
  switch (encoding.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64');
    case 'quoted-printable':
      return Buffer.from(
        body
          .replace(/=\n/g, '')
          .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      );
    default:
      return Buffer.from(body);
  }
}
