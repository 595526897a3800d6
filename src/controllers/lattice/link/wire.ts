import type { ClientHttp2Session } from 'node:http2';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import {
  CapstanError,
  type Clock,
  formatTime,
  type JsonObject,
  type JsonValue,
  limitAnswer,
  parseRfc3339,
} from '../../../machinery/index.ts';
import { parseCertificate } from '../../../pki/index.ts';
import { objectOf, readMessage, shownText } from './json-body.ts';
import { linkTimes } from './names.ts';

/** Sends a request with a small JSON object and returns the response object. */
export async function ask(
  session: ClientHttp2Session,
  { path, body, clock }: { path: string; body: JsonObject; clock: Clock },
): Promise<{ code: number; answer: JsonObject }> {
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json' });
  const silence = new CapstanError('CAP_LATTICE_LINK', `no answer within ${linkTimes.answerMs / 1000} s`);
  const cancel = limitAnswer(clock, linkTimes.answerMs, () => stream.destroy(silence));
  try {
    const code = new Promise<number>((resolve, reject) => {
      stream.once('response', (headers) => resolve(Number(headers[':status'] ?? 0)));
      stream.once('error', reject).once('close', () => reject(silence));
    });
    stream.end(JSON.stringify(body));
    const [status, text] = await Promise.all([code, readMessage(stream)]);
    return { code: status, answer: objectOf(text) };
  } finally {
    cancel();
  }
}

export interface SecureOptions {
  readonly host: string;
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly protocol?: string;
  readonly clock: Clock;
}

/** Runs a TLS handshake over a dialed stream. */
export function secure(socket: Duplex, options: SecureOptions): Promise<TLSSocket> {
  const { host, ca, cert, key, protocol, clock } = options;
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      host,
      ...(isIP(host) === 0 && { servername: host }),
      ca,
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(protocol !== undefined && { ALPNProtocols: [protocol] }),
      minVersion: 'TLSv1.3',
    });
    const late = new CapstanError('CAP_LATTICE_LINK', `no handshake within ${linkTimes.connectMs / 1000} s`);
    const cancel = limitAnswer(clock, linkTimes.connectMs, () => secured.destroy(late));
    const fail = (error: unknown): void => {
      cancel();
      secured.destroy();
      reject(error);
    };
    secured.once('error', fail).once('close', () => fail(new Error('the connection was closed in the handshake')));
    secured.once('secureConnect', () => {
      cancel();
      secured.removeAllListeners('close').off('error', fail);
      // later errors surface in reads and writes; without this listener they would crash the process
      secured.on('error', () => {});
      resolve(secured);
    });
  });
}

/** Explains a failed handshake; certificates that are not valid now usually mean that a clock is wrong. */
export function handshakeProblem(error: unknown, certificate: string, clock: Clock): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (!/CERT_NOT_YET_VALID|CERT_HAS_EXPIRED|CERTIFICATE_EXPIRED/.test(code)) return undefined;
  return clockWords(certificate, clock);
}

export function clockWords(certificate: string, clock: Clock): string {
  const { notBefore, notAfter } = parseCertificate(certificate);
  return `the clock here says ${formatTime(clock.now())}, and the certificate is good from ${formatTime(notBefore)} to ${formatTime(notAfter)}: set the clock of the machines`;
}

const worthAWordMs = 60_000;

/** Returns by how many seconds the other clock is ahead, rounded to minutes, so that the message is stable. */
export function skewOf(said: JsonValue | undefined, clock: Clock): number | undefined {
  const theirs = parseRfc3339(shownText(said) ?? '');
  const aheadMs = (theirs ?? clock.now()) - clock.now();
  return Math.abs(aheadMs) < worthAWordMs ? undefined : Math.round(aheadMs / 60_000) * 60;
}
