import { createHash } from 'node:crypto';
import { lookup } from 'node:dns';
import { Agent, request } from 'undici';
import {
  anyPeer,
  CapstanError,
  type Clock,
  checkPeerHost,
  errorMessage,
  guardedLookup,
  type PeerPolicy,
  trimTrailing,
} from '../../../../machinery/index.ts';
import type { BackupStore } from '../types.ts';
import { emptyBodyHash, encodeSegment, type S3Credentials, signedHeaders } from './aws-signature.ts';

export interface S3Location extends S3Credentials {
  /** host with optional port, or a URL; default https */
  host: string;
  /** `bucket` or `bucket/prefix` */
  bucket: string;
}

/** The store returned an error or an invalid response. */
export class BackupStoreError extends CapstanError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('CAP_BACKUP_STORE', message, options);
    this.name = 'BackupStoreError';
  }
}

interface Answer {
  status: number;
  header(name: string): string | undefined;
  body: AsyncIterable<Buffer>;
}

export interface S3Options {
  partBytes?: number;
  /** hosts that may be contacted */
  peers?: PeerPolicy;
}

/** Part size of multipart uploads, which bounds the memory per backup. */
export const partBytes: number = 32 * 1024 * 1024;
/** Timeout of a store that sends nothing. */
const silenceMs = 60_000;
/** Total time limit of a request, against stores that send very slowly. */
const longestMs = 30 * 60_000;
/** Response limits, because tenants choose the store. A list page holds 1000 names. */
const maxTextBytes = 4 * 1024 * 1024;
const maxNames = 100_000;

/** Stores backups in an S3 bucket with path-style addresses, which all compatible stores support. */
export function s3Store(location: S3Location, clock: Clock, options: S3Options = {}): BackupStore {
  const size = options.partBytes ?? partBytes;
  const peers = options.peers ?? anyPeer;
  const base = baseOf(location.host);
  // connections end with their request, because a store is opened again for every backup
  const dispatcher = new Agent({ connect: { lookup: guardedLookup(peers, lookup as never) as never }, pipelining: 0 });
  const [bucket = '', ...prefixParts] = location.bucket.split('/').filter((part) => part !== '');
  const prefix = prefixParts.length === 0 ? '' : `${prefixParts.join('/')}/`;

  const ask = async (
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    { key, query, body }: { key: string; query: Readonly<Record<string, string>>; body: Buffer | undefined },
    signal: AbortSignal,
  ): Promise<Answer> => {
    const url = new URL(base);
    const segments = key === '' ? [bucket] : [bucket, ...key.split('/')];
    url.pathname = `${trimTrailing(base.pathname, '/')}/${segments.map(encodeSegment).join('/')}`;
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodeSegment(name)}=${encodeSegment(value)}`)
      .join('&');
    const bodyHash = body === undefined ? emptyBodyHash : createHash('sha256').update(body).digest('hex');
    const { host: _, ...headers } = signedHeaders({ method, url, bodyHash }, location, clock.now());
    const limit = new AbortController();
    const cancel = clock.after(longestMs, () =>
      limit.abort(new Error(`not done within ${longestMs / 60_000} minutes`)),
    );
    try {
      checkPeerHost(peers, base.hostname);
      const answer = await request(url, {
        method,
        headers,
        dispatcher,
        signal: AbortSignal.any([signal, limit.signal]),
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
        ...(body !== undefined && { body }),
      });
      return {
        status: answer.statusCode,
        header: (name) => {
          const value = answer.headers[name];
          return Array.isArray(value) ? value[0] : value;
        },
        body: untilEnd(answer.body as AsyncIterable<Buffer>, cancel),
      };
    } catch (cause) {
      cancel();
      if (signal.aborted) throw signal.reason;
      throw new BackupStoreError(`the backup store ${base.host} does not answer: ${errorMessage(cause)}`, {
        hint: 'check the host in the Secret of the backup, and the way there',
        cause,
      });
    }
  };
  const expectOk = async (answer: Answer, what: string): Promise<string> => {
    const text = await textOf(answer, what);
    if (answer.status >= 200 && answer.status < 300 && !text.includes('<Error>')) return text;
    throw refusal(what, answer.status, text);
  };
  const textOf = async ({ body }: Answer, what: string): Promise<string> => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > maxTextBytes)
        throw new BackupStoreError(`the backup store ${base.host} answered too much to ${what}`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  };
  // security: the server may be any host, so only the S3 error code of a response is shown
  const refusal = (what: string, status: number, text: string): BackupStoreError => {
    const code = text.includes('<Error>') ? tagged(text, 'Code')[0] : undefined;
    const why = code !== undefined && /^[A-Za-z]{1,64}$/.test(code) ? `${code} (HTTP ${status})` : `HTTP ${status}`;
    return new BackupStoreError(`the backup store ${base.host} refused ${what} in bucket ${bucket}: ${why}`, {
      hint: 'check keys, region and bucket in the Secret of the backup',
    });
  };

  const writeInParts = async (
    key: string,
    pieces: AsyncIterator<Buffer>,
    first: Buffer,
    second: Buffer,
    signal: AbortSignal,
  ): Promise<void> => {
    const opened = await expectOk(
      await ask('POST', { key, query: { uploads: '' }, body: undefined }, signal),
      'an upload',
    );
    const uploadId = tagged(opened, 'UploadId')[0];
    if (uploadId === undefined)
      throw new BackupStoreError(`the backup store ${base.host} opened an upload without an id`);
    try {
      const tags: string[] = [];
      const put = async (part: Buffer): Promise<void> => {
        const query = { partNumber: String(tags.length + 1), uploadId };
        const answer = await ask('PUT', { key, query, body: part }, signal);
        await expectOk(answer, `part ${tags.length + 1}`);
        tags.push(answer.header('etag') ?? '');
      };
      await put(first);
      await put(second);
      for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) await put(next.value);
      const list = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('');
      const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
      await expectOk(await ask('POST', { key, query: { uploadId }, body }, signal), 'the end of an upload');
    } catch (error) {
      // abandoned parts cost money; a failure to delete them must not hide the original error
      const late = AbortSignal.timeout(silenceMs);
      await ask('DELETE', { key, query: { uploadId }, body: undefined }, late).catch(() => {});
      throw error;
    }
  };

  return {
    async write(name, parts, signal) {
      const key = `${prefix}${name}`;
      const pieces = piecesOf(parts, size)[Symbol.asyncIterator]();
      const first = await pieces.next();
      const second = first.done === true ? first : await pieces.next();
      if (second.done === true) {
        const whole = first.done === true ? Buffer.alloc(0) : first.value;
        await expectOk(await ask('PUT', { key, query: {}, body: whole }, signal), `the backup ${key}`);
      } else {
        await writeInParts(key, pieces, first.value as Buffer, second.value, signal);
      }
    },
    async list(wanted, signal) {
      const names: string[] = [];
      let token: string | undefined;
      do {
        const query = {
          'list-type': '2',
          prefix: `${prefix}${wanted}`,
          ...(token !== undefined && { 'continuation-token': token }),
        };
        const text = await expectOk(
          await ask('GET', { key: '', query, body: undefined }, signal),
          'the list of backups',
        );
        for (const key of tagged(text, 'Key')) names.push(key.slice(prefix.length));
        if (names.length > maxNames) throw new BackupStoreError(`bucket ${bucket} lists more than ${maxNames} backups`);
        token = tagged(text, 'IsTruncated')[0] === 'true' ? tagged(text, 'NextContinuationToken')[0] : undefined;
      } while (token !== undefined);
      return names.sort();
    },
    async *read(name, signal) {
      const answer = await ask('GET', { key: `${prefix}${name}`, query: {}, body: undefined }, signal);
      if (answer.status !== 200)
        throw refusal(`the backup ${prefix}${name}`, answer.status, await textOf(answer, 'a question for a backup'));
      for await (const part of answer.body) yield part;
    },
  };
}

/** Parses a host or URL; default https. */
function baseOf(host: string): URL {
  const text = /^https?:\/\//.test(host) ? host : `https://${host}`;
  if (URL.canParse(text)) return new URL(text);
  throw new BackupStoreError(`${JSON.stringify(host)} is no host of a backup store`, {
    hint: 'correct it in the Secret',
  });
}

async function* untilEnd(body: AsyncIterable<Buffer>, end: () => void): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } finally {
    end();
  }
}

/** Splits chunks of any size into pieces of `size`; only the last may be smaller. */
async function* piecesOf(parts: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer, void> {
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const part of parts) {
    waiting.push(part);
    length += part.length;
    while (length >= size) {
      const whole = Buffer.concat(waiting);
      yield whole.subarray(0, size);
      waiting = [whole.subarray(size)];
      length -= size;
    }
  }
  if (length > 0) yield Buffer.concat(waiting);
}

/** Returns the text of all elements with this name. The responses in use have no attributes. */
function tagged(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, content = '']) =>
    content
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&apos;', "'")
      .replaceAll('&amp;', '&'),
  );
}
