import { connect } from 'node:http2';
import type { Duplex } from 'node:stream';

const serving = 1;

/** Calls grpc.health.v1.Health over a stream. Rejects with the reason unless the service is serving. */
export function grpcHealth(stream: Duplex, service: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const session = connect('http://localhost', { createConnection: () => stream });
    const end = (error?: Error): void => {
      signal.removeEventListener('abort', onAbort);
      session.destroy();
      if (error) reject(error);
      else resolve();
    };
    const onAbort = (): void => end(new Error('timeout: health rpc did not complete in time'));
    signal.addEventListener('abort', onAbort, { once: true });
    session.on('error', (error: Error) => end(error));
    const call = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const chunks: Buffer[] = [];
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('error', (error: Error) => end(error));
    call.on('end', () => {
      const status = servingStatus(Buffer.concat(chunks));
      if (status === serving) end();
      else end(new Error(`service unhealthy (responded with "${status === undefined ? 'UNKNOWN' : 'NOT_SERVING'}")`));
    });
    call.end(checkRequest(service));
  });
}

/** Encodes HealthCheckRequest { service = 1 } in a gRPC frame. */
function checkRequest(service: string): Buffer {
  const name = Buffer.from(service, 'utf8');
  const message = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** Decodes HealthCheckResponse { status = 1 }: one field with a small number. */
function servingStatus(answer: Buffer): number | undefined {
  return answer.length >= 7 && answer[5] === 0x08 ? answer[6] : undefined;
}
