// Rows store milliseconds. Every service has its own format, all in UTC.

/** Cache: the thousands of times in a list fall into few seconds. */
const secondsKnown = new Map<number, string>();
const mostKnown = 10_000;

/** `2026-11-15T03:49:17`: octavia */
export function seconds(ms: number): string {
  const second = Math.floor(ms / 1000);
  let text = secondsKnown.get(second);
  if (text === undefined) {
    if (secondsKnown.size >= mostKnown) secondsKnown.clear();
    text = new Date(second * 1000).toISOString().slice(0, 19);
    secondsKnown.set(second, text);
  }
  return text;
}

/** `2026-11-15T03:47:14Z`: nova, neutron, glance */
export function zulu(ms: number): string {
  return `${seconds(ms)}Z`;
}

/** `2026-11-15T03:47:15.000000`: cinder, and nova's launch times and actions */
export function microseconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000`;
}

/** The same format with whole seconds, for times that nova and cinder read back from their databases. */
export function wholeSeconds(ms: number): string {
  return `${seconds(ms)}.000000`;
}

/** `2026-11-15T04:03:45.000000Z`: keystone's tokens */
export function microsecondsZulu(ms: number): string {
  return `${microseconds(ms)}Z`;
}
