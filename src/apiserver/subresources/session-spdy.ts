import type { Duplex } from 'node:stream';
import { must } from '../../machinery/index.ts';
import { serveSpdy } from '../http/spdy/connection.ts';
import type { SpdyStream } from '../http/spdy/stream.ts';
import { outcomeOf, type RunSession, type SessionSpec } from './pod-exec.ts';

/** Protocol of older clients inside SPDY; over WebSocket the same name means another protocol. */
export const sessionSpdyProtocol = 'v4.channel.k8s.io';

/**
 * Implements `v4.channel.k8s.io`: the client opens one stream per requested direction, and one for the outcome of the
 * session.
 */
export function serveSessionStreams(connection: Duplex, desired: SessionSpec, run: RunSession): void {
  const expected = new Set(['error', ...(['stdin', 'stdout', 'stderr'] as const).filter((name) => desired[name])]);
  if (desired.tty) expected.add('resize');
  const streams = new Map<string, SpdyStream>();
  const gone = new AbortController();
  connection.once('close', () => gone.abort(new Error('the client has gone')));
  serveSpdy(connection, {
    accepts: (headers) => {
      const kind = headers.get('streamtype') ?? '';
      return expected.has(kind) && !streams.has(kind);
    },
    serve: (stream) => {
      const kind = must(stream.headers.get('streamtype'), 'kind');
      streams.set(kind, stream);
      // Streams other than stdin carry no input of interest.
      if (kind !== 'stdin') stream.resume();
      stream.on('error', () => stream.destroy());
      if (streams.size === expected.size) begin(streams, desired, gone.signal, run);
    },
  });
}

function begin(
  streams: ReadonlyMap<string, SpdyStream>,
  desired: SessionSpec,
  signal: AbortSignal,
  run: RunSession,
): void {
  const stdin = streams.get('stdin');
  const write = (name: string, text: string): void => {
    const stream = streams.get(name);
    if (text !== '' && stream && !stream.destroyed) stream.write(text);
  };
  const running = run({
    ...(stdin && { stdin: stdin as AsyncIterable<Buffer> }),
    tty: desired.tty,
    signal,
    out: (text) => write('stdout', text),
    error: (text) => write(desired.tty ? 'stdout' : 'stderr', text),
  });
  outcomeOf(running).then(
    (status) => {
      for (const [name, stream] of streams) {
        if (name === 'error') stream.end(JSON.stringify(status));
        else stream.end();
      }
      stdin?.resume();
    },
    () => {
      for (const stream of streams.values()) stream.destroy();
    },
  );
}
