import { describe, expect, it } from 'vitest';
import { ProtobufError } from './error.ts';
import { bytesField, numberField, readRawFields } from './fields.ts';

describe('protobuf messages without a description', () => {
  it('are read as they were written', () => {
    const inner = bytesField(1, 'key');
    const message = Buffer.concat([
      numberField(1, 0n),
      numberField(2, 2n ** 64n - 1n),
      numberField(3, -1n),
      bytesField(2000, inner),
      bytesField(5, ''),
      bytesField(6, 'x'.repeat(300)),
    ]);
    expect([...readRawFields(message)]).toEqual([
      { number: 1, value: 0n },
      { number: 2, value: 2n ** 64n - 1n },
      { number: 3, value: 2n ** 64n - 1n },
      { number: 2000, value: inner },
      { number: 5, value: Buffer.alloc(0) },
      { number: 6, value: Buffer.from('x'.repeat(300)) },
    ]);
  });

  it('may have numbers of fixed size', () => {
    const message = Buffer.from([0x09, 1, 0, 0, 0, 0, 0, 0, 0, 0x15, 2, 0, 0, 0]);
    expect([...readRawFields(message)]).toEqual([
      { number: 1, value: 1n },
      { number: 2, value: 2n },
    ]);
  });

  it.each([
    ['a number that does not end', [0x08, 0x80]],
    ['a number of eleven bytes', [0x08, ...new Array<number>(11).fill(0x80)]],
    ['a text longer than the message', [0x0a, 5, 1]],
    ['a length that looks negative', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['half a number of fixed size', [0x09, 1, 2, 3]],
    ['half a short number of fixed size', [0x0d, 1]],
    ['a group', [0x0b]],
  ])('are refused with %s', (_, bytes) => {
    expect(() => [...readRawFields(Buffer.from(bytes))]).toThrow(ProtobufError);
  });
});
