import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { errorMessage } from '../../machinery/index.ts';

/** Protocol names of clients: the current name first, then older names of the same protocol. */
export const portForwardProtocols: readonly string[] = ['v4.channel.k8s.io', 'channel.k8s.io'];

/** Buffered bytes at which reading from the pod pauses. */
const maxBufferedBytes = 256 * 1024;

/**
 * Implements `v4.channel.k8s.io`: each port has two channels, data and errors, in the order of the requested ports. The
 * first message on each channel is the port as two bytes, little-endian.
 */
export function servePortForward(
  socket: WebSocket,
  ports: readonly number[],
  connect: (port: number) => Promise<Duplex>,
): void {
  const streams = ports.map((port, index) => forwardPort(socket, port, index * 2, connect));
  socket.on('message', (data: RawData) => {
    const message = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const channel = message[0];
    if (channel === undefined || message.length === 1 || channel % 2 === 1) return;
    streams[channel / 2]?.write(message.subarray(1));
  });
  const end = (): void => {
    for (const stream of streams) stream.end();
  };
  socket.on('close', end);
  socket.on('error', end);
}

interface ForwardedPort {
  write(bytes: Buffer): void;
  end(): void;
}

function forwardPort(
  socket: WebSocket,
  port: number,
  dataChannel: number,
  connect: (port: number) => Promise<Duplex>,
): ForwardedPort {
  const send = (channel: number, bytes: Uint8Array, sent?: () => void): void => {
    if (socket.readyState !== socket.OPEN) return;
    const message = Buffer.allocUnsafe(bytes.byteLength + 1);
    message[0] = channel;
    message.set(bytes, 1);
    socket.send(message, { binary: true }, sent);
  };
  const announcement = Buffer.alloc(2);
  announcement.writeUInt16LE(port);
  send(dataChannel, announcement);
  send(dataChannel + 1, announcement);

  let stream: Duplex | undefined;
  let ended = false;
  /** data that the client sent before the pod was connected */
  let early: Buffer[] = [];
  const fail = (error: unknown): void => {
    if (ended) return;
    ended = true;
    send(dataChannel + 1, Buffer.from(errorMessage(error)), () => socket.close());
  };
  connect(port).then((opened) => {
    if (ended) {
      opened.destroy();
      return;
    }
    stream = opened;
    opened.on('data', (chunk: Buffer) => {
      if (socket.bufferedAmount < maxBufferedBytes) send(dataChannel, chunk);
      else {
        opened.pause();
        send(dataChannel, chunk, () => opened.resume());
      }
    });
    opened.on('error', fail);
    opened.on('close', () => {
      if (ended) return;
      ended = true;
      socket.close();
    });
    for (const bytes of early) opened.write(bytes);
    early = [];
  }, fail);
  return {
    write(bytes) {
      if (ended) return;
      if (!stream) early.push(bytes);
      else if (!stream.write(bytes)) {
        socket.pause();
        stream.once('drain', () => socket.resume());
      }
    },
    end() {
      ended = true;
      stream?.destroy();
    },
  };
}
