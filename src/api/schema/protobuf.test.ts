import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeKubernetesProtobuf,
  encodeKubernetesProtobuf,
  encodeProtobufWatchFrame,
  isUnregisteredKind,
  type JsonObject,
  ProtobufError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { protobufRegistry } from './index.ts';

interface Fixture {
  name: string;
  protobuf: string;
  json: JsonObject;
}

// Written by Go's serializer of k8s.io/api v0.34.4. Each kind has one object with only a name and one with all fields
// set, both as protobuf and as Go's JSON.
const all = JSON.parse(readFileSync(new URL('./testdata/go-protobuf.json', import.meta.url), 'utf8')) as Fixture[];
const watchFrame = all.find((fixture) => fixture.name === 'watch frame')!;
const fixtures = all.filter((fixture) => fixture !== watchFrame);

function bytesOf(fixture: Fixture): Uint8Array {
  return Buffer.from(fixture.protobuf, 'base64');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

describe('protobuf of the built-in kinds', () => {
  it('has fixtures for all groups', () => {
    expect(new Set(fixtures.map((fixture) => fixture.name.split(' ')[0])).size).toBe(21);
    expect(fixtures.length).toBeGreaterThan(130);
  });

  it.each(fixtures)('decodes $name to the JSON Go writes', (fixture) => {
    const decoded = decodeKubernetesProtobuf(bytesOf(fixture), protobufRegistry);
    expect(decoded.object).toEqual(fixture.json);
    expect(`${decoded.apiVersion} ${decoded.kind}`).toBe(fixture.name.replace(/ \S+$/, ''));
  });

  it.each(fixtures)('encodes $name to the bytes Go writes', (fixture) => {
    expect(hex(encodeKubernetesProtobuf(fixture.json, protobufRegistry))).toBe(hex(bytesOf(fixture)));
  });

  it('frames watch events as Go does', () => {
    const frame = encodeProtobufWatchFrame('ADDED', watchFrame.json, protobufRegistry);
    expect(hex(frame)).toBe(hex(bytesOf(watchFrame)));
  });

  it.each(['v1', 'apps/v1', 'example.org/v1alpha1'])('encodes and decodes DeleteOptions under %s', (apiVersion) => {
    const object = { apiVersion, kind: 'DeleteOptions', propagationPolicy: 'Foreground', gracePeriodSeconds: 0 };
    const bytes = encodeKubernetesProtobuf(object, protobufRegistry);
    expect(decodeKubernetesProtobuf(bytes, protobufRegistry).object).toEqual(object);
  });

  it('distinguishes an unknown kind from damaged bytes', () => {
    const bytes = encodeKubernetesProtobuf({ apiVersion: 'v1', kind: 'ConfigMap' }, protobufRegistry);
    const renamed = Buffer.from(Buffer.from(bytes).toString('latin1').replace('ConfigMap', 'ConfigMop'), 'latin1');
    expect(errorOf(renamed)).toSatisfy(isUnregisteredKind);
    expect(errorOf(renamed)).toHaveProperty('message', 'protobuf: no protobuf table for v1, Kind=ConfigMop');
    expect(errorOf(bytes.subarray(0, bytes.length - 5))).not.toSatisfy(isUnregisteredKind);
  });

  it('answers damaged bytes with a value or a ProtobufError', () => {
    const damage = fc.record({
      fixture: fc.constantFrom(...fixtures),
      edits: fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.nat(255) }), {
        maxLength: 6,
      }),
      cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    });
    fc.assert(
      fc.property(damage, ({ fixture, edits, cut }) => {
        let bytes = Buffer.from(fixture.protobuf, 'base64');
        for (const { at, byte } of edits) bytes[Math.min(bytes.length - 1, 4 + Math.floor(at * bytes.length))] = byte;
        if (cut !== null) bytes = bytes.subarray(0, Math.floor(cut * bytes.length));
        const error = errorOf(bytes);
        if (error !== undefined) expect(error).toBeInstanceOf(ProtobufError);
      }),
      { numRuns: 2000 },
    );
  });

  it('encodes anything it decoded to bytes with the same meaning', () => {
    fc.assert(
      fc.property(fc.constantFrom(...fixtures), fc.nat(), fc.nat(255), (fixture, position, byte) => {
        const bytes = Buffer.from(fixture.protobuf, 'base64');
        bytes[4 + (position % (bytes.length - 4))] = byte;
        const first = decodeOrUndefined(bytes);
        if (first === undefined) return;
        const again = decodeKubernetesProtobuf(encodeKubernetesProtobuf(first, protobufRegistry), protobufRegistry);
        expect(withoutNulls(again.object)).toEqual(withoutNulls(first));
      }),
      { numRuns: 500 },
    );
  });
});

/** Go encodes a pointer to an empty time as null and decodes null as nil, so Go loses the difference, too. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, member) => (member === null ? undefined : member)));
}

function decodeOrUndefined(bytes: Uint8Array): UnstructuredObject | undefined {
  try {
    return decodeKubernetesProtobuf(bytes, protobufRegistry).object;
  } catch {
    return undefined;
  }
}

function errorOf(bytes: Uint8Array): unknown {
  try {
    decodeKubernetesProtobuf(bytes, protobufRegistry);
    return undefined;
  } catch (error) {
    return error;
  }
}
