/** Tags of the elements in certificates. */
export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag of a primitive context-specific element. */
export function contextTag(number: number): number {
  return 0x80 | number;
}

/** Tag of a constructed context-specific element. */
export function wrapperTag(number: number): number {
  return 0xa0 | number;
}

/** Encodes one element: tag, length and contents. */
export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const content of contents) length += content.length;
  const lengthBytes = length < 0x80 ? 0 : length < 0x100 ? 1 : length < 0x10000 ? 2 : 4;
  const element = Buffer.allocUnsafe(2 + lengthBytes + length);
  element[0] = tag;
  if (lengthBytes === 0) element[1] = length;
  else {
    element[1] = 0x80 | lengthBytes;
    element.writeUIntBE(length, 2, lengthBytes);
  }
  let at = 2 + lengthBytes;
  for (const content of contents) {
    element.set(content, at);
    at += content.length;
  }
  return element;
}

export function derSequence(...elements: readonly Uint8Array[]): Buffer {
  return writeDer(derTag.sequence, ...elements);
}

/** Encodes a small INTEGER, such as a version or a path length. */
export function derSmallInteger(value: number): Buffer {
  const digits = value.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return writeDer(derTag.integer, ...((bytes[0] ?? 0) & 0x80 ? [Buffer.of(0)] : []), bytes);
}

const knownObjectIds = new Map<string, Buffer>();

/** Encodes an OBJECT IDENTIFIER from its dotted form. Cached, because only few are used. */
export function derObjectIdOf(dotted: string): Buffer {
  let known = knownObjectIds.get(dotted);
  if (known === undefined) {
    known = writeDer(derTag.objectId, Buffer.from(objectIdBytes(dotted)));
    knownObjectIds.set(dotted, known);
  }
  return known;
}

function objectIdBytes(dotted: string): number[] {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const part of [first * 40 + second, ...rest]) {
    const digits = [part % 128];
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(128 | (left % 128));
    bytes.push(...digits);
  }
  return bytes;
}

/** Encodes a BIT STRING of whole bytes, such as a signature. */
export function derBitString(bytes: Uint8Array): Buffer {
  return writeDer(derTag.bitString, Buffer.of(0), bytes);
}

/** Encodes a BIT STRING of named bits. The first bit is the lowest of `flags`; trailing zeros are omitted. */
export function derNamedBits(flags: number): Buffer {
  const length = 32 - Math.clz32(flags);
  const bytes = Buffer.alloc(Math.ceil(length / 8));
  for (let bit = 0; bit < length; bit++) {
    if (flags & (1 << bit)) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  }
  return writeDer(derTag.bitString, Buffer.of((8 - (length % 8)) % 8), bytes);
}

/** Encodes a time in whole seconds. RFC 5280 requires the short form until 2049. */
export function derTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replace(/\D/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? writeDer(derTag.utcTime, Buffer.from(`${digits.slice(2)}Z`, 'latin1'))
    : writeDer(derTag.generalizedTime, Buffer.from(`${digits}Z`, 'latin1'));
}
