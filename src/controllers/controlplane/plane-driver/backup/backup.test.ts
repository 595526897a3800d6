import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { peerPolicy, systemClock } from '../../../../machinery/index.ts';
import type { EtcdAdministrator } from '../../etcd-client/types.ts';
import { emptyBodyHash, signedHeaders } from './aws-signature.ts';
import { keysOfSnapshot } from './bolt.ts';
import { directoryStore } from './directory-store.ts';
import { s3Store } from './s3-store.ts';
import { backupName, nextBackup } from './schedule.ts';
import { snapshotParts } from './snapshot.ts';

const { signal } = new AbortController();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function* parts(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

async function whole(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('S3 request signatures', () => {
  it('match the example in the S3 documentation', () => {
    const headers = signedHeaders(
      {
        method: 'GET',
        url: new URL('https://examplebucket.s3.amazonaws.com/test.txt'),
        headers: { Range: 'bytes=0-9' },
        bodyHash: emptyBodyHash,
      },
      {
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        region: 'us-east-1',
      },
      Date.UTC(2013, 4, 24),
    );
    expect(headers['authorization']).toContain(
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    expect(headers['authorization']).toContain('SignedHeaders=host;range;x-amz-content-sha256;x-amz-date');
  });
});

/** An in-memory store that verifies signatures. */
async function fakeS3(options: { refusePart?: number } = {}) {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Buffer[]>();
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const url = new URL(request.url ?? '', 'http://store');
      const key = decodeURIComponent(url.pathname.slice('/bucket/'.length));
      asked.push(`${request.method} ${url.pathname}${url.search}`);
      const refuse = (code: string, message: string, status = 403): void => {
        response.writeHead(status);
        response.end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
      };
      const hash = createHash('sha256').update(body).digest('hex');
      if (request.headers['x-amz-content-sha256'] !== hash) return refuse('XAmzContentSHA256Mismatch', 'wrong hash');
      if (!request.headers.authorization?.includes('Credential=key/'))
        return refuse('InvalidAccessKeyId', 'who is that?');
      const uploadId = url.searchParams.get('uploadId');
      if (request.method === 'POST' && url.searchParams.has('uploads')) {
        uploads.set('u1', []);
        return response.end('<R><UploadId>u1</UploadId></R>');
      }
      if (request.method === 'PUT' && uploadId !== null) {
        const number = Number(url.searchParams.get('partNumber'));
        if (number === options.refusePart) return refuse('SlowDown', 'too many', 503);
        uploads.get(uploadId)?.push(body);
        response.setHeader('etag', `"e${number}"`);
        return response.end();
      }
      if (request.method === 'POST' && uploadId !== null) {
        if (!body.includes('<ETag>"e1"</ETag>')) return refuse('InvalidPart', 'no etag', 400);
        objects.set(key, Buffer.concat(uploads.get(uploadId) ?? []));
        uploads.delete(uploadId);
        return response.end('<R/>');
      }
      if (request.method === 'DELETE' && uploadId !== null) {
        uploads.delete(uploadId);
        return response.writeHead(204).end();
      }
      if (request.method === 'PUT') {
        objects.set(key, body);
        return response.end();
      }
      if (url.searchParams.has('list-type')) {
        const keys = [...objects.keys()].filter((name) => name.startsWith(url.searchParams.get('prefix') ?? ''));
        const list = keys.map((name) => `<Contents><Key>${name.replaceAll('&', '&amp;')}</Key></Contents>`).join('');
        return response.end(`<R><IsTruncated>false</IsTruncated>${list}</R>`);
      }
      const found = objects.get(key);
      if (!found) return refuse('NoSuchKey', 'not here', 404);
      response.end(found);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => server.closeAllConnections(),
  );
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, objects, uploads, asked };
}

describe('a backup store', () => {
  const location = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'r', bucket: 'bucket/below' };

  it('writes small backups to a bucket in one request and reads them back', async () => {
    const { host, objects, asked } = await fakeS3();
    const store = s3Store({ ...location, host }, systemClock);
    await store.write('ns/c&1/a.etcd', parts('one ', 'two'), signal);
    expect(objects.get('below/ns/c&1/a.etcd')?.toString()).toBe('one two');
    expect(asked).toHaveLength(1);
    expect(await store.list('ns/', signal)).toEqual(['ns/c&1/a.etcd']);
    expect(await whole(store.read('ns/c&1/a.etcd', signal))).toBe('one two');
  });

  it('writes large backups to a bucket in parts', async () => {
    const { host, objects, uploads } = await fakeS3();
    const store = s3Store({ ...location, host }, systemClock, { partBytes: 4 });
    await store.write('big', parts('abc', 'defg', 'h', 'ij'), signal);
    expect(objects.get('below/big')?.toString()).toBe('abcdefghij');
    expect(uploads.size).toBe(0);
  });

  it('removes uploaded parts when a write fails, and says why', async () => {
    const { host, objects, uploads } = await fakeS3({ refusePart: 2 });
    const store = s3Store({ ...location, host }, systemClock, { partBytes: 4 });
    await expect(store.write('big', parts('abcdefgh'), signal)).rejects.toThrow(/: SlowDown \(HTTP 503\)$/);
    expect(uploads.size).toBe(0);
    expect(objects.size).toBe(0);
  });

  it('explains refused keys and hosts that do not answer', async () => {
    const { host } = await fakeS3();
    const wrong = s3Store({ ...location, host, accessKeyId: 'other' }, systemClock);
    await expect(wrong.list('', signal)).rejects.toThrow(
      /refused the list of backups in bucket bucket: InvalidAccessKeyId \(HTTP 403\)$/,
    );
    const nowhere = s3Store({ ...location, host: 'http://127.0.0.1:1' }, systemClock);
    await expect(nowhere.list('', signal)).rejects.toThrow(/does not answer/);
  });

  it('in a directory lists only complete backups', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-backup-'));
    cleanups.push(() => rm(directory, { recursive: true }));
    const store = directoryStore(directory);
    expect(await directoryStore(join(directory, 'none')).list('ns/c1/', signal)).toEqual([]);
    await store.write('ns/c1/b.etcd', parts('x', 'y'), signal);
    await store.write('ns/c1/a.etcd', parts('z'), signal);
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('half');
      throw new Error('cut off');
    };
    await expect(store.write('ns/c1/c.etcd', broken(), signal)).rejects.toThrow('cut off');
    expect(await store.list('ns/c1/', signal)).toEqual(['ns/c1/a.etcd', 'ns/c1/b.etcd']);
    expect(await readdir(join(directory, 'ns', 'c1'))).toHaveLength(2);
    expect(await whole(store.read('ns/c1/b.etcd', signal))).toBe('xy');
  });
});

describe('a backup directory', () => {
  const newRoot = async (): Promise<string> => {
    const root = await mkdtemp(join(tmpdir(), 'capstan-backup-'));
    cleanups.push(() => rm(root, { recursive: true }));
    return root;
  };

  it.each([
    '../out/a',
    'ns/../a',
    'ns/c1/../a',
    '/etc/passwd/a',
    'ns/c1/a/b',
    'ns//a',
    './c1/a',
    'ns/c1/a\0b',
    'ns\\c1/x/a',
  ])('refuses the name %j', async (name) => {
    const store = directoryStore(await newRoot());
    await expect(store.write(name, parts('x'), signal)).rejects.toThrow('is no name of a backup');
    await expect(whole(store.read(name, signal))).rejects.toThrow('is no name of a backup');
  });

  it('does not follow symbolic links below its root', async () => {
    const root = await newRoot();
    const outside = await newRoot();
    await writeFile(join(outside, 'secret.etcd'), 'secret');
    await mkdir(join(root, 'ns', 'c1'), { recursive: true });
    await symlink(outside, join(root, 'linked'));
    await symlink(outside, join(root, 'ns', 'linked'));
    await symlink(join(outside, 'secret.etcd'), join(root, 'ns', 'c1', 'a.etcd'));
    await symlink(join(outside, 'secret.etcd'), join(root, 'ns', 'c1', 'b.etcd.part'));
    const store = directoryStore(root);
    for (const name of ['ns/linked/secret.etcd', 'linked/c1/secret.etcd', 'ns/c1/a.etcd']) {
      await expect(whole(store.read(name, signal))).rejects.toThrow();
    }
    await expect(store.write('ns/linked/new.etcd', parts('x'), signal)).rejects.toThrow('is no directory');
    await expect(store.list('ns/linked/', signal)).rejects.toThrow('is no directory');
    expect(await store.list('ns/c1/', signal)).toEqual([]);
    await store.write('ns/c1/b.etcd', parts('mine'), signal);
    expect(await store.list('ns/c1/', signal)).toEqual(['ns/c1/b.etcd']);
    expect(await readdir(outside)).toEqual(['secret.etcd']);
    expect(await readFile(join(outside, 'secret.etcd'), 'utf8')).toBe('secret');
  });
});

describe('a host that is not a backup store', () => {
  const serve = async (answer: (response: ServerResponse) => void): Promise<string> => {
    const server = createServer((_request, response) => answer(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(
      () => new Promise((resolve) => server.close(resolve)),
      () => server.closeAllConnections(),
    );
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const location = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'r', bucket: 'bucket' };

  it('does not have its answer shown', async () => {
    const host = await serve((response) =>
      response.writeHead(403).end('<Code>hidden</Code><Message>internal page</Message>'),
    );
    const store = s3Store({ ...location, host }, systemClock);
    for (const failure of [store.list('', signal), whole(store.read('a', signal))]) {
      const message = await failure.then(String, (error: Error) => error.message);
      expect(message).toMatch(/: HTTP 403$/);
      expect(message).not.toMatch(/hidden|internal/);
    }
  });

  it('cannot fill the memory with an endless answer', async () => {
    let sent = 0;
    const host = await serve((response) => {
      const more = (): void => {
        while (!response.destroyed) {
          sent += 1_000_000;
          if (!response.write(Buffer.alloc(1_000_000))) return void response.once('drain', more);
        }
      };
      more();
    });
    await expect(s3Store({ ...location, host }, systemClock).list('', signal)).rejects.toThrow('answered too much');
    expect(sent).toBeLessThan(64_000_000);
  });

  it('is not followed on redirects, and not contacted when the operator denies it', async () => {
    let asked = 0;
    const other = await serve((response) => {
      asked++;
      response.end();
    });
    const host = await serve((response) => response.writeHead(307, { location: other }).end());
    await expect(s3Store({ ...location, host }, systemClock).list('', signal)).rejects.toThrow('HTTP 307');
    const peers = peerPolicy({ deny: ['127.0.0.0/8', '::1'], allow: [] });
    for (const denied of [other, other.replace('127.0.0.1', 'localhost')]) {
      const refused = s3Store({ ...location, host: denied }, systemClock, { peers });
      await expect(refused.list('', signal)).rejects.toThrow('must not be connected to from here');
    }
    expect(asked).toBe(0);
  });
});

describe('a file that is not a valid snapshot', () => {
  it('is refused when its pages form a cycle', async () => {
    const pageBytes = 4096;
    const file = Buffer.alloc(4 * pageBytes);
    file.writeUInt32LE(0xed0cdaed, 16);
    file.writeUInt32LE(pageBytes, 24);
    file.writeBigUInt64LE(2n, 32);
    // a branch page that is its own child
    file.writeUInt16LE(0x01, 2 * pageBytes + 8);
    file.writeUInt16LE(2, 2 * pageBytes + 10);
    for (const index of [0, 1]) file.writeBigUInt64LE(2n, 2 * pageBytes + 16 + index * 16 + 8);
    await expect(keysOfSnapshot(file)).rejects.toThrow('its pages go round');
  });
});

describe('an etcd snapshot', () => {
  const client = (snapshot: EtcdAdministrator['snapshot']): EtcdAdministrator => ({ snapshot }) as EtcdAdministrator;

  it('is passed on part by part, the next one when the last was consumed', async () => {
    const order: string[] = [];
    const source = client(async (write) => {
      for (const text of ['a', 'b', 'c']) {
        order.push(`sent ${text}`);
        await write(Buffer.from(text));
      }
    });
    for await (const part of snapshotParts(source, signal)) order.push(`taken ${part.toString()}`);
    expect(order).toEqual(['sent a', 'taken a', 'sent b', 'taken b', 'sent c', 'taken c']);
  });

  it('fails when it breaks off, and is cancelled when nobody reads it', async () => {
    const broken = client(async (write) => {
      await write(Buffer.from('a'));
      throw new Error('no leader');
    });
    await expect(whole(snapshotParts(broken, signal))).rejects.toThrow('no leader');
    let ended = false;
    const endless = client(async (write, using) => {
      while (!using.aborted) await write(Buffer.from('a'));
      ended = true;
    });
    for await (const _ of snapshotParts(endless, signal)) break;
    expect(ended).toBe(true);
  });
});

describe('backup schedules', () => {
  it('spread daily backups over the night, at a fixed time for each plane', () => {
    const after = Date.parse('2026-05-01T12:00:00Z');
    const times = ['a', 'b', 'c', 'd'].map((name) => nextBackup('@daily', after, { namespace: 'ns', name }) ?? 0);
    expect(new Set(times).size).toBe(4);
    for (const time of times) {
      const hour = new Date(time).getUTCHours();
      expect(hour >= 20 || hour < 4).toBe(true);
    }
    expect(nextBackup('@daily', after, { namespace: 'ns', name: 'a' })).toBe(times[0]);
  });

  it.each([
    ['@hourly', 60 * 60_000],
    ['@weekly', 7 * 24 * 60 * 60_000],
    ['@monthly', 31 * 24 * 60 * 60_000],
    ['@yearly', 366 * 24 * 60 * 60_000],
  ])('spread backups of %s within the period', (schedule, periodMs) => {
    const after = Date.parse('2026-05-01T12:00:00Z');
    const times = ['a', 'b', 'c', 'd'].map((name) => nextBackup(schedule, after, { namespace: 'ns', name }) ?? 0);
    expect(new Set(times).size).toBe(4);
    for (const time of times) expect(time - after).toBeLessThanOrEqual(periodMs);
  });

  it('name backups by plane and time', () => {
    expect(backupName({ namespace: 'ns', name: 'c1' }, Date.parse('2026-05-01T12:00:00Z'))).toBe(
      'ns/c1/2026-05-01T12:00:00Z.etcd',
    );
  });
});
