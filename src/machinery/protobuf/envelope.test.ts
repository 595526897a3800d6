import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { asJson } from '../meta/crossings.ts';
import { decodeKubernetesProtobuf, encodeKubernetesProtobuf, isKubernetesProtobuf } from './envelope.ts';
import { isUnregisteredKind, ProtobufError } from './error.ts';
import type { ProtobufField, ProtobufLeaf, ProtobufMessage, ProtobufRegistry } from './message.ts';
import { WireWriter } from './wire-writer.ts';

function field(
  name: string,
  number: number,
  type: ProtobufLeaf | ProtobufMessage,
  how: Partial<ProtobufField> = {},
): ProtobufField {
  return { name, number, type, shape: 'one', pointer: false, whenUnset: 'omit', ...how };
}

const rope: ProtobufMessage = {
  name: 'Rope',
  fields: [field('length', 1, 'int32', { whenUnset: 'emit' }), field('colour', 2, 'string')],
};

const hull: ProtobufMessage = {
  name: 'Hull',
  fields: [field('planks', 1, 'int64', { pointer: true }), field('sealed', 2, 'bool', { whenUnset: 'emit' })],
};

/** A recursive message, to test nesting. */
const boat: ProtobufMessage = {
  name: 'Boat',
  get fields() {
    return boatFields;
  },
};
const boatFields: ProtobufField[] = [
  field('name', 1, 'string'),
  field('crew', 2, 'int64'),
  field('captains', 3, 'int32', { pointer: true }),
  field('rope', 4, rope, { whenUnset: 'emit' }),
  field('anchor', 5, rope, { pointer: true }),
  field('ports', 6, 'intOrString', { shape: 'list' }),
  field('cargo', 7, 'quantity', { shape: 'map' }),
  field('built', 8, 'time', { whenUnset: 'emit' }),
  field('seen', 9, 'microTime', { pointer: true }),
  field('log', 10, 'rawJson', { pointer: true }),
  field('', 11, hull, { shape: 'inline' }),
  field('tender', 12, boat, { pointer: true }),
  field('depths', 13, 'int32', { shape: 'list' }),
  field('draught', 14, 'double', { pointer: true }),
  field('flag', 15, 'bytes'),
  field('notes', 16, 'string', { shape: 'map' }),
  field('berths', 17, rope, { shape: 'list', whenUnset: 'emit' }),
];

const registry: ProtobufRegistry = {
  message: (apiVersion, kind) => (apiVersion === 'sea/v1' && kind === 'Boat' ? boat : undefined),
};

/** JSON that Go emits for an empty boat. */
const bare = {
  apiVersion: 'sea/v1',
  kind: 'Boat',
  rope: { length: 0 },
  built: null,
  sealed: false,
  berths: null,
};

interface EnvelopeParts {
  apiVersion?: string;
  kind?: string;
  encoding?: string;
}

function envelope(write: (writer: WireWriter) => void, parts: EnvelopeParts = {}): Uint8Array {
  const writer = new WireWriter(8);
  writer.raw(Uint8Array.of(0x6b, 0x38, 0x73, 0));
  writer.tag(1, 2);
  const typeMeta = writer.openMessage();
  writer.tag(1, 2);
  writer.string(parts.apiVersion ?? 'sea/v1');
  writer.tag(2, 2);
  writer.string(parts.kind ?? 'Boat');
  writer.closeMessage(typeMeta);
  writer.tag(2, 2);
  const raw = writer.openMessage();
  write(writer);
  writer.closeMessage(raw);
  if (parts.encoding !== undefined) {
    writer.tag(3, 2);
    writer.string(parts.encoding);
  }
  return writer.finish();
}

function decode(write: (writer: WireWriter) => void, parts?: EnvelopeParts): unknown {
  return decodeKubernetesProtobuf(envelope(write, parts), registry).object;
}

function failure(run: () => unknown): ProtobufError {
  try {
    run();
  } catch (error) {
    if (error instanceof ProtobufError) return error;
    throw error;
  }
  throw new Error('expected a ProtobufError');
}

describe('decoding protobuf', () => {
  it('shows an empty message as Go would', () => {
    expect(decode(() => {})).toEqual(bare);
  });

  it('drops a zero that is not a pointer and keeps one that is', () => {
    const object = decode((writer) => {
      writer.tag(1, 2);
      writer.string('');
      writer.tag(2, 0);
      writer.signed(0);
      writer.tag(3, 0);
      writer.signed(0);
      writer.tag(15, 2);
      writer.string('');
    });
    expect(object).toEqual({ ...bare, captains: 0 });
  });

  it('keeps the last value of a repeated single field, even if it is zero', () => {
    const object = decode((writer) => {
      for (const crew of [7, 0]) {
        writer.tag(2, 0);
        writer.signed(crew);
      }
      for (const captains of [7, 2]) {
        writer.tag(3, 0);
        writer.signed(captains);
      }
    });
    expect(object).toEqual({ ...bare, captains: 2 });
  });

  it('merges a message that occurs twice', () => {
    const object = decode((writer) => {
      writer.tag(4, 2);
      writer.bytes(Uint8Array.of(0x08, 5));
      writer.tag(4, 2);
      writer.bytes(Uint8Array.of(0x12, 3, 0x72, 0x65, 0x64));
    });
    expect(object).toEqual({ ...bare, rope: { length: 5, colour: 'red' } });
  });

  it('reads packed and unpacked numbers', () => {
    const object = decode((writer) => {
      writer.tag(13, 0);
      writer.signed(1);
      writer.tag(13, 2);
      writer.bytes(Uint8Array.of(2, 0xac, 0x02));
    });
    expect(object).toEqual({ ...bare, depths: [1, 2, 300] });
  });

  it('skips unknown fields', () => {
    const object = decode((writer) => {
      writer.tag(900, 0);
      writer.signed(-1);
      writer.tag(901, 1);
      writer.double(1);
      writer.tag(902, 2);
      writer.string('later');
      writer.tag(903, 5);
      writer.raw(Uint8Array.of(1, 2, 3, 4));
      writer.tag(1, 2);
      writer.string('Argo');
    });
    expect(object).toEqual({ ...bare, name: 'Argo' });
  });

  it('gives map entries without key or value their zero value', () => {
    const object = decode((writer) => {
      writer.tag(7, 2);
      writer.bytes(new Uint8Array(0));
      writer.tag(16, 2);
      writer.bytes(Uint8Array.of(0x0a, 1, 0x6b));
    });
    expect(object).toEqual({ ...bare, cargo: { '': '0' }, notes: { k: '' } });
  });

  it('treats a map key named __proto__ as a plain member', () => {
    const bytes = encodeKubernetesProtobuf(
      JSON.parse('{"apiVersion":"sea/v1","kind":"Boat","notes":{"__proto__":"polluted"}}') as JsonObject,
      registry,
    );
    const { object } = decodeKubernetesProtobuf(bytes, registry);
    expect(JSON.stringify(object['notes'])).toBe('{"__proto__":"polluted"}');
    expect(Object.getPrototypeOf(object['notes'])).toBe(Object.prototype);
  });

  it('takes the kind from the caller when the envelope has none', () => {
    const bytes = envelope(() => {}, { apiVersion: '', kind: '' });
    expect(decodeKubernetesProtobuf(bytes, registry, { apiVersion: 'sea/v1', kind: 'Boat' }).object).toEqual(bare);
    expect(failure(() => decodeKubernetesProtobuf(bytes, registry))).toSatisfy(isUnregisteredKind);
  });

  it('decodes an object embedded as protobuf', () => {
    const inner = envelope((writer) => {
      writer.tag(1, 2);
      writer.string('dinghy');
    });
    const object = decode((writer) => {
      writer.tag(10, 2);
      const extension = writer.openMessage();
      writer.tag(1, 2);
      writer.bytes(inner);
      writer.closeMessage(extension);
    });
    expect(object).toEqual({ ...bare, log: { ...bare, name: 'dinghy' } });
  });

  it('reads times before 1970 and the zero time of Go', () => {
    const times = [-1, -62_135_596_800].map((seconds) =>
      decode((writer) => {
        writer.tag(8, 2);
        const time = writer.openMessage();
        writer.tag(1, 0);
        writer.signed(seconds);
        writer.closeMessage(time);
      }),
    );
    expect(times).toEqual([{ ...bare, built: '1969-12-31T23:59:59Z' }, bare]);
  });
});

describe('refusing protobuf', () => {
  const cases: [string, () => unknown, string][] = [
    [
      'bytes without the magic',
      () => decodeKubernetesProtobuf(Buffer.from('{}'), registry),
      'protobuf: the body does not start with k8s\\x00',
    ],
    [
      'a compressed body',
      () => decode(() => {}, { encoding: 'gzip' }),
      'protobuf: content encoding "gzip" is not supported',
    ],
    [
      'a length beyond the end',
      () =>
        decode((writer) => {
          writer.tag(1, 2);
          writer.unsigned(100);
        }),
      'protobuf: the message ends too early',
    ],
    [
      'an inner length beyond the outer message',
      () =>
        decode((writer) => {
          writer.tag(4, 2);
          writer.bytes(Uint8Array.of(0x12, 50));
          writer.tag(1, 2);
          writer.string('x'.repeat(100));
        }),
      'protobuf: the message ends too early',
    ],
    [
      'a length above two gigabytes',
      () =>
        decode((writer) => {
          writer.tag(1, 2);
          writer.unsigned(2 ** 32 - 1);
        }),
      'protobuf: the message ends too early',
    ],
    [
      'an endless varint',
      () => decode((writer) => writer.raw(new Uint8Array(20).fill(0xff))),
      'protobuf: a varint is longer than 10 bytes',
    ],
    [
      'a wrong wire type',
      () =>
        decode((writer) => {
          writer.tag(1, 0);
          writer.signed(1);
        }),
      'protobuf: Boat.name has wire type 0, expected 2',
    ],
    ['a group', () => decode((writer) => writer.tag(900, 3)), 'protobuf: wire type 3 is not supported'],
    ['field number zero', () => decode((writer) => writer.tag(0, 2)), 'protobuf: field number 0 is not allowed'],
    [
      'a time after the year 9999',
      () =>
        decode((writer) => {
          writer.tag(8, 2);
          const time = writer.openMessage();
          writer.tag(1, 0);
          writer.signed(1e12);
          writer.closeMessage(time);
        }),
      'protobuf: a timestamp is outside the years 0 to 9999',
    ],
    [
      'a number that JSON cannot write',
      () =>
        decode((writer) => {
          writer.tag(14, 1);
          writer.double(Number.NaN);
        }),
      'protobuf: Boat.draught is not a finite number',
    ],
    [
      'raw JSON that is none',
      () =>
        decode((writer) => {
          writer.tag(10, 2);
          const raw = writer.openMessage();
          writer.tag(1, 2);
          writer.string('{');
          writer.closeMessage(raw);
        }),
      'protobuf: Boat.log does not hold valid JSON',
    ],
    [
      'endless nesting',
      () => decode((writer) => nest(writer, 300)),
      'protobuf: messages are nested more than 200 deep',
    ],
    ['messages without number', () => decode(manyBerths), 'protobuf: more than 500000 nested messages'],
    [
      'a matryoshka of envelopes',
      () => decode((writer) => embed(writer, 6)),
      'protobuf: objects are embedded too deeply',
    ],
  ];

  it.each(cases)('refuses as malformed: %s', (_name, run, message) => {
    const error = failure(run);
    expect(error.message).toBe(message);
    expect(error.reason).toBe('malformed');
  });

  it('reports an unknown kind with a reason of its own', () => {
    const error = failure(() => decode(() => {}, { kind: 'Raft' }));
    expect(error).toSatisfy(isUnregisteredKind);
    expect(error.message).toBe('protobuf: no protobuf table for sea/v1, Kind=Raft');
  });

  it.each<[JsonObject, string]>([
    [{ name: 1 }, 'protobuf: Boat.name must be a string'],
    [{ crew: 1.5 }, 'protobuf: Boat.crew must be a 64-bit integer'],
    [{ captains: 2 ** 31 }, 'protobuf: Boat.captains must be a 32-bit integer'],
    [{ rope: [] }, 'protobuf: Rope must be an object'],
    [{ ports: '80' }, 'protobuf: Boat.ports must be a list'],
    [{ cargo: [] }, 'protobuf: Boat.cargo must be a map'],
    [{ built: 'today' }, 'protobuf: Boat.built must be an RFC 3339 time'],
    [{ sealed: 'yes' }, 'protobuf: Hull.sealed must be a boolean'],
    [{ ports: [1.5] }, 'protobuf: Boat.ports must be a 32-bit integer or a string'],
  ])('refuses to encode %j', (members, message) => {
    const object = { apiVersion: 'sea/v1', kind: 'Boat', ...members };
    expect(failure(() => encodeKubernetesProtobuf(object, registry)).message).toBe(message);
  });
});

function nest(writer: WireWriter, depth: number): void {
  if (depth === 0) return;
  writer.tag(12, 2);
  const tender = writer.openMessage();
  nest(writer, depth - 1);
  writer.closeMessage(tender);
}

function embed(writer: WireWriter, depth: number): void {
  if (depth === 0) return;
  writer.tag(10, 2);
  const extension = writer.openMessage();
  writer.tag(1, 2);
  writer.bytes(envelope((inner) => embed(inner, depth - 1)));
  writer.closeMessage(extension);
}

function manyBerths(writer: WireWriter): void {
  const berth = Uint8Array.of((17 << 3) | 0x82, 1, 0);
  const many = Buffer.alloc(berth.length * 500_001);
  for (let i = 0; i < 500_001; i++) many.set(berth, i * berth.length);
  writer.raw(many);
}

describe('encoding and decoding', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 });
  const optional = { requiredKeys: [] };
  const ropes = fc.record(
    { length: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), colour: text },
    { requiredKeys: ['length'] },
  );
  const filled = ropes.filter((value) => value.colour !== '');
  const boats = fc.record(
    {
      name: text.filter((value) => value !== ''),
      crew: fc.maxSafeInteger().filter((value) => value !== 0),
      captains: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      anchor: filled,
      ports: fc.array(fc.oneof(fc.integer({ min: -1000, max: 70_000 }), text), { minLength: 1, maxLength: 4 }),
      cargo: fc.dictionary(text, fc.constantFrom('1', '500m', '10Gi'), { minKeys: 1, maxKeys: 4 }),
      seen: fc
        .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
        .map((date) => date.toISOString().replace('Z', '000Z')),
      log: fc
        .json({ maxDepth: 3 })
        .map((json) => JSON.parse(json))
        .filter((value) => value !== null),
      planks: fc.maxSafeInteger(),
      tender: fc.constant({ ...bare, apiVersion: undefined, kind: undefined }),
      draught: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
      flag: fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    },
    optional,
  );

  it('returns every object unchanged', () => {
    fc.assert(
      fc.property(boats, (members) => {
        const object = asJson({ ...bare, ...members });
        const bytes = encodeKubernetesProtobuf(object, registry);
        expect(isKubernetesProtobuf(bytes)).toBe(true);
        expect(JSON.parse(JSON.stringify(decodeKubernetesProtobuf(bytes, registry).object))).toEqual(
          JSON.parse(JSON.stringify(object)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('drops the bits of a varint beyond 64', () => {
    const object = decode((writer) => {
      writer.tag(2, 0);
      writer.raw(Uint8Array.of(0x87, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7e));
    });
    expect(object).toEqual({ ...bare, crew: 7 });
  });

  it('keeps the sign of the largest integers', () => {
    for (const crew of [2 ** 63, -(2 ** 63), Number.MAX_SAFE_INTEGER, -1]) {
      const bytes = encodeKubernetesProtobuf({ apiVersion: 'sea/v1', kind: 'Boat', crew }, registry);
      expect(decodeKubernetesProtobuf(bytes, registry).object['crew']).toBe(crew);
    }
  });
});
