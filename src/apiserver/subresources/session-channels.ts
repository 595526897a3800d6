import { PassThrough } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { must } from '../../machinery/index.ts';
import { outcomeOf, type RunSession, type SessionSpec } from './pod-exec.ts';

interface SessionProtocol {
  /** channels are digits and contents are base64, for clients that can read only text */
  base64: boolean;
  /** format of the outcome: a Status, or plain text of a failure in the oldest protocols */
  outcome: 'status' | 'words';
}

/** Protocols by name. Only in the newest one clients can end their input without disconnecting. */
const protocols: ReadonlyMap<string, SessionProtocol> = new Map([
  ['v5.channel.k8s.io', { base64: false, outcome: 'status' }],
  ['v4.channel.k8s.io', { base64: false, outcome: 'status' }],
  ['v4.base64.channel.k8s.io', { base64: true, outcome: 'status' }],
  ['channel.k8s.io', { base64: false, outcome: 'words' }],
  ['base64.channel.k8s.io', { base64: true, outcome: 'words' }],
  ['', { base64: false, outcome: 'words' }],
]);

export const sessionProtocols: readonly string[] = [...protocols.keys()];

const maxUnreadBytes = 16 * 1024 * 1024;
const channel = { stdin: 0, stdout: 1, stderr: 2, outcome: 3, close: 255 } as const;

/** Implements the channel protocols: the first byte of every message is its channel. */
export function serveSessionChannels(socket: WebSocket, desired: SessionSpec, run: RunSession, protocol: string): void {
  const { base64, outcome } = must(protocols.get(protocol), 'protocols.get(protocol)');
  const gone = new AbortController();
  const stdin = desired.stdin ? new PassThrough() : undefined;
  const leave = (): void => {
    gone.abort(new Error('the client has gone'));
    stdin?.end();
  };
  socket.on('close', leave);
  socket.on('error', leave);
  socket.on('message', (data: RawData) => {
    const message = base64 ? decodeMessage(bytesOf(data)) : bytesOf(data);
    const [number] = message;
    if (number === channel.close && message[1] === channel.stdin) stdin?.end();
    // Pauses the socket when input arrives faster than it is read. Terminal sizes are ignored.
    if (number !== channel.stdin || !stdin || stdin.writableEnded || stdin.write(message.subarray(1))) return;
    socket.pause();
    stdin.once('drain', () => socket.resume());
  });
  const send = (number: number, text: string): void => {
    if (text === '' || socket.readyState !== socket.OPEN) return;
    // A client that does not read its output must not fill the memory.
    if (socket.bufferedAmount > maxUnreadBytes) return socket.terminate();
    const content = Buffer.from(text, 'utf8');
    if (base64) socket.send(`${number}${content.toString('base64')}`, { binary: false });
    else socket.send(Buffer.concat([Buffer.from([number]), content]), { binary: true });
  };
  const running = run({
    ...(stdin && { stdin }),
    tty: desired.tty,
    signal: gone.signal,
    out: (text) => send(channel.stdout, text),
    error: (text) => send(desired.tty ? channel.stdout : channel.stderr, text),
  });
  outcomeOf(running).then(
    (status) => {
      if (outcome === 'status') send(channel.outcome, JSON.stringify(status));
      else if (status['status'] !== 'Success') send(channel.outcome, String(status['message'] ?? ''));
      stdin?.destroy();
      socket.resume();
      socket.close(1000);
    },
    () => socket.terminate(),
  );
}

/** Decodes a message with a digit as channel and base64 content. */
function decodeMessage(message: Buffer): Buffer {
  const number = Number(message.subarray(0, 1).toString('latin1'));
  const content = Buffer.from(message.subarray(1).toString('latin1'), 'base64');
  return Buffer.concat([Buffer.from([Number.isInteger(number) ? number : channel.close]), content]);
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
