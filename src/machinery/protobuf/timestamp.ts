import { ProtobufError } from './error.ts';

const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|z|[+-]\d{2}:\d{2})$/;

export interface Timestamp {
  seconds: number;
  /** 0 to 999,999,999, counted forward even before 1970 */
  nanos: number;
}

/** First and last second that RFC 3339 can express. */
const earliest = -62_167_219_200;
const latest = 253_402_300_799;

/** Formats whole seconds: metav1.Time has no fractions in JSON or protobuf. */
export function formatTime(timestamp: Timestamp): string {
  return `${isoSeconds(timestamp.seconds)}Z`;
}

/** Formats six decimal places, as metav1.MicroTime. */
export function formatMicroTime(timestamp: Timestamp): string {
  const micros = Math.floor(timestamp.nanos / 1000);
  return `${isoSeconds(timestamp.seconds)}.${String(micros).padStart(6, '0')}Z`;
}

function isoSeconds(seconds: number): string {
  if (!(seconds >= earliest && seconds <= latest)) {
    throw new ProtobufError('protobuf: a timestamp is outside the years 0 to 9999');
  }
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

/** Parses RFC 3339; undefined if invalid. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const milliseconds = Date.parse(text.toUpperCase());
  if (Number.isNaN(milliseconds)) return undefined;
  return { seconds: Math.floor(milliseconds / 1000), nanos: Number((match[7] ?? '').padEnd(9, '0')) };
}
