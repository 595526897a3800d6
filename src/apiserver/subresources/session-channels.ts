import { PassThrough } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { outcomeOf, type RunSession, type SessionWish } from './pod-exec.ts';

/** What clients may call the protocol: only the newer one lets them end their input without leaving. */
export const sessionProtocols: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

const maxUnreadBytes = 16 * 1024 * 1024;
const channel = { stdin: 0, stdout: 1, stderr: 2, outcome: 3, close: 255 } as const;

/** Speaks `v5.channel.k8s.io`: the first byte of every message says whose it is, and the outcome comes as a Status. */
export function serveSessionChannels(socket: WebSocket, wish: SessionWish, run: RunSession): void {
  const gone = new AbortController();
  const stdin = wish.stdin ? new PassThrough() : undefined;
  const leave = (): void => {
    gone.abort(new Error('the client has gone'));
    stdin?.end();
  };
  socket.on('close', leave);
  socket.on('error', leave);
  socket.on('message', (data: RawData) => {
    const message = bytesOf(data);
    const [number] = message;
    if (number === channel.close && message[1] === channel.stdin) stdin?.end();
    // Whoever types faster than is read waits; the size of a terminal is nothing to anybody here.
    if (number !== channel.stdin || !stdin || stdin.writableEnded || stdin.write(message.subarray(1))) return;
    socket.pause();
    stdin.once('drain', () => socket.resume());
  });
  const send = (number: number, text: string): void => {
    if (text === '' || socket.readyState !== socket.OPEN) return;
    // Whoever runs a command and reads nothing of what it says must not fill our memory with it.
    if (socket.bufferedAmount > maxUnreadBytes) return socket.terminate();
    socket.send(Buffer.concat([Buffer.from([number]), Buffer.from(text, 'utf8')]), { binary: true });
  };
  const running = run({
    ...(stdin && { stdin }),
    tty: wish.tty,
    signal: gone.signal,
    out: (text) => send(channel.stdout, text),
    error: (text) => send(wish.tty ? channel.stdout : channel.stderr, text),
  });
  outcomeOf(running).then(
    (status) => {
      send(channel.outcome, JSON.stringify(status));
      stdin?.destroy();
      socket.resume();
      socket.close(1000);
    },
    () => socket.terminate(),
  );
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
