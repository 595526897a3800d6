import type { Duplex } from 'node:stream';
import { errorMessage, must } from '../../machinery/index.ts';
import { serveSpdy } from '../http/spdy/connection.ts';
import type { SpdyHeaders } from '../http/spdy/header-block.ts';
import type { SpdyStream } from '../http/spdy/stream.ts';

/** Name of the protocol inside SPDY; over WebSocket it is `SPDY/3.1+portforward.k8s.io`. */
export const portForwardSpdyProtocol = 'portforward.k8s.io';

/**
 * Implements `portforward.k8s.io`: for each forwarded connection, the client opens two streams with the same
 * `requestid` and `port`, one for data and one for errors of the server.
 */
export function servePortForwardStreams(connection: Duplex, connect: (port: number) => Promise<Duplex>): void {
  const waiting = new Map<string, SpdyStream>();
  serveSpdy(connection, {
    accepts: (headers) => {
      const kind = headers.get('streamtype');
      return (kind === 'data' || kind === 'error') && headers.has('requestid') && portOf(headers) !== undefined;
    },
    serve: (stream) => {
      const id = must(stream.headers.get('requestid'), 'id');
      const other = waiting.get(id);
      if (!other) {
        waiting.set(id, stream);
        stream.once('close', () => {
          if (waiting.get(id) === stream) waiting.delete(id);
        });
        return;
      }
      if (other.headers.get('streamtype') === stream.headers.get('streamtype')) {
        stream.destroy();
        return;
      }
      waiting.delete(id);
      const [data, errors] = stream.headers.get('streamtype') === 'data' ? [stream, other] : [other, stream];
      forward(data, errors, connect);
    },
  });
}

function portOf(headers: SpdyHeaders): number | undefined {
  const text = headers.get('port') ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function forward(data: SpdyStream, errors: SpdyStream, connect: (port: number) => Promise<Duplex>): void {
  // Clients send nothing on this stream.
  errors.resume();
  let ended = false;
  const end = (problem?: unknown): void => {
    if (ended) return;
    ended = true;
    if (problem === undefined) errors.end();
    else errors.end(errorMessage(problem));
    data.end();
  };
  connect(must(portOf(data.headers), 'portOf(data.headers)')).then(
    (pod) => {
      if (data.destroyed) pod.destroy();
      pod.on('error', end);
      pod.once('end', () => end());
      pod.once('close', () => {
        end();
        data.resume();
      });
      data.once('close', () => {
        pod.destroy();
        end();
      });
      data.pipe(pod);
      pod.pipe(data);
    },
    (problem: unknown) => {
      end(problem);
      data.resume();
    },
  );
}
