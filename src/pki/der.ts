export interface DerElement {
  tag: number;
  content: Buffer;
}

/** Reads consecutive elements. Throws RangeError if an element is truncated. */
export function readDer(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at++);
    let length = bytes.readUInt8(at++);
    if (length > 0x80) {
      const size = length & 0x7f;
      if (size > 4) throw new RangeError('DER length is too large');
      length = bytes.readUIntBE(at, size);
      at += size;
    }
    if (at + length > bytes.length) throw new RangeError('DER element is cut off');
    elements.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return elements;
}

/** Reads the first element of an encoding that has at least one. */
export function firstDer(bytes: Buffer): DerElement {
  const [first] = readDer(bytes);
  if (!first) throw new RangeError('DER element is missing');
  return first;
}

/** Decodes any of the string types used in names. */
export function derText({ tag, content }: DerElement): string {
  if (tag === 0x1e) return Buffer.from(content).swap16().toString('utf16le');
  // T61String and similar types are read as Latin-1.
  return tag === 0x0c ? content.toString('utf8') : content.toString('latin1');
}

/** Decodes the content of an OBJECT IDENTIFIER to a form like `2.5.4.3`. */
export function derObjectId(content: Buffer): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      parts.push(first, value - first * 40);
    } else parts.push(value);
    value = 0;
  }
  return parts.join('.');
}
