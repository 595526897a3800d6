import { copyFile, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dice, seedAt } from '../../support/rough/dice.ts';
import { bundleProgram, type Program, type RunningServer, upArguments } from '../../support/rough/program.ts';
import { openTls, readToEnd } from '../../support/rough/raw.ts';
import { http1Client, http2Client, type JsonAnswer, sendJson, type WireClient } from '../../support/rough/wire.ts';
import { Writer } from './load.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = '/api/v1/namespaces/default/secrets';

let program: Program;
let directory: string;

beforeAll(async () => {
  program = await bundleProgram();
  directory = await mkdtemp(join(tmpdir(), 'capstan-lifecycle-'));
});

afterAll(async () => {
  await program.remove();
  await rm(directory, { recursive: true, force: true });
});

function place(name: string): string {
  return join(directory, name);
}

function configMap(name: string, data: Record<string, string> = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

async function withClient<T>(server: RunningServer, use: (client: WireClient) => Promise<T>): Promise<T> {
  const client = http1Client(server.admin);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** Returns names and revisions of the test's objects, and the contents of Secrets. */
async function contents(client: WireClient): Promise<unknown> {
  const [maps, hidden] = await Promise.all([sendJson(client, 'GET', configMaps), sendJson(client, 'GET', secrets)]);
  return [...maps.value.items, ...hidden.value.items]
    .filter(({ metadata }: JsonAnswer) => metadata.name !== 'kube-root-ca.crt')
    .map(({ metadata, data }: JsonAnswer) => [metadata.name, metadata.resourceVersion, metadata.uid, data]);
}

describe('SIGTERM', () => {
  it('ends the program cleanly while it is being written to and watched', async () => {
    const here = place('sigterm');
    const server = await program.up(here);
    const writers = Array.from({ length: 4 }, (_, i) => new Writer(`w${i}`, 'default', dice(seedAt(7, i))));
    const clients = writers.map((_, i) => (i % 2 === 0 ? http1Client(server.admin) : http2Client(server.admin)));
    const watch = await openTls(server.admin);
    watch.write(`GET ${configMaps}?watch=true HTTP/1.1\r\nHost: x\r\n\r\n`);
    const watched = readToEnd(watch);
    let stopped = false;
    const running = Promise.all(writers.map((writer, i) => writer.run(clients[i]!, () => stopped)));
    while (writers.every((writer) => writer.acknowledged < 20)) await Promise.race([tick(), running]);
    const outcome = await server.process.stop('SIGTERM');
    stopped = true;
    await running;
    expect(outcome.code, outcome.stderr).toBe(0);
    // The last chunk of a chunked answer: the watch was ended, not cut.
    expect((await watched).endsWith('0\r\n\r\n')).toBe(true);
    for (const client of clients) client.close();
    expect(await readdir(join(server.dataDirectory, 'store'))).not.toContain('lock');

    const again = await program.up(here);
    const problems = await withClient(again, async (client) => {
      const stored = new Map<string, JsonAnswer>();
      for (const path of [configMaps, secrets]) {
        const { value } = await sendJson(client, 'GET', path);
        for (const item of value.items)
          stored.set(item.metadata.name, { ...item, kind: path === secrets ? 'Secret' : '' });
      }
      return writers.flatMap((writer) => writer.check(stored));
    });
    expect(problems).toEqual([]);
    expect((await again.process.stop()).code).toBe(0);
  });
});

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a data directory in use', () => {
  it('is refused to a second program with a clear message, and the first continues', async () => {
    const here = place('twice');
    const earlier = await program.up(here);
    await earlier.process.stop();
    const saved = join(here, 'saved');
    expect((await program.run('backup', '--data-dir', earlier.dataDirectory, saved)).code).toBe(0);
    const first = await program.up(here);
    const second = await program.run(...upArguments(here));
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`is in use by process ${first.process.pid}`);
    expect(second.stderr).toContain('hint: ');
    expect(second.stderr).not.toMatch(/^\s+at /m);
    for (const args of [
      ['store', 'check', '--data-dir', first.dataDirectory],
      ['backup', '--data-dir', first.dataDirectory, join(here, 'stolen')],
      ['restore', '--force', '--data-dir', first.dataDirectory, saved],
    ]) {
      const refused = await program.run(...args);
      expect(refused.code, args.join(' ')).toBe(1);
      expect(refused.stderr, args.join(' ')).toContain(`is in use by process ${first.process.pid}`);
    }
    await withClient(first, async (client) => {
      expect((await sendJson(client, 'POST', configMaps, configMap('after'))).status).toBe(201);
    });
    expect((await first.process.stop()).code).toBe(0);
  });

  it('is free again after a kill', async () => {
    const here = place('twice');
    const killed = await program.up(here);
    await killed.process.stop('SIGKILL');
    const next = await program.up(here);
    await withClient(next, async (client) => {
      expect((await sendJson(client, 'GET', `${configMaps}/after`)).status).toBe(200);
    });
    await next.process.stop();
  });
});

describe('backup and restore', () => {
  it('saves one moment of a store under writes and restores it whole', async () => {
    const here = place('backup');
    const server = await program.up(here);
    const before = await withClient(server, async (client) => {
      for (let i = 0; i < 30; i++) await sendJson(client, 'POST', configMaps, configMap(`c${i}`, { i: String(i) }));
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: 'hunter2' } };
      expect((await sendJson(client, 'POST', secrets, secret)).status).toBe(201);
      return contents(client);
    });
    const file = join(here, 'saved');
    const saved = await program.run('backup', '--kubeconfig', server.kubeconfig, file);
    expect(saved, saved.stderr).toMatchObject({ code: 0 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await withClient(server, async (client) => {
      await sendJson(client, 'DELETE', `${configMaps}/c1`);
      await sendJson(client, 'POST', configMaps, configMap('later'));
    });
    expect((await server.process.stop()).code).toBe(0);

    const there = place('restored');
    const data = join(there, 'data');
    const restored = await program.run('restore', '--data-dir', data, file);
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    const check = await program.run('store', 'check', '--data-dir', data);
    expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining('the store is sound') });
    const twice = await program.run('restore', '--data-dir', data, file);
    expect(twice.code, 'a store that is there is not overwritten').toBe(1);

    await copyFile(join(here, 'key'), join(there, 'key'));
    const revived = await program.up(there);
    expect(await withClient(revived, contents)).toEqual(before);
    expect((await revived.process.stop()).code).toBe(0);
  });

  it('refuses a store whose Secrets were sealed with another key, with a clear message', async () => {
    const there = place('restored');
    await rm(join(there, 'key'));
    const outcome = await program.run(...upArguments(there));
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toMatch(/hint: /);
    expect(outcome.stderr).not.toMatch(/^\s+at /m);
  });

  it('refuses a file that is not a backup, or half of one', async () => {
    const here = place('backup');
    const half = join(here, 'half');
    await copyFile(join(here, 'saved'), half);
    const handle = await open(half, 'r+');
    const { size } = await handle.stat();
    await handle.truncate(Math.floor(size / 2));
    await handle.close();
    const wrongUsage = 2;
    for (const [file, code] of [
      [half, 1],
      [join(here, 'kubeconfig'), 1],
      [join(here, 'absent'), wrongUsage],
    ] as const) {
      const target = place(`broken-${Math.random().toString(36).slice(2)}`);
      const outcome = await program.run('restore', '--data-dir', join(target, 'data'), file);
      expect(outcome.code, file).toBe(code);
      expect(outcome.stderr).not.toMatch(/^\s+at /m);
    }
  });
});

describe('a damaged store', () => {
  it('is noticed, named and repaired, and never served as if it were whole', async () => {
    const here = place('damaged');
    const server = await program.up(here);
    await withClient(server, async (client) => {
      for (let i = 0; i < 20; i++) {
        await sendJson(client, 'POST', configMaps, configMap(`c${i}`, { marker: `MARK-${i}-${'x'.repeat(200)}` }));
      }
    });
    expect((await server.process.stop()).code).toBe(0);
    const file = join(server.dataDirectory, 'store', 'data.mdb');
    await overwrite(file, 'MARK-7-', 'SPOILED');

    const refused = await program.run(...upArguments(here));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/damage|checksum/i);
    expect(refused.stderr).toMatch(/hint: .*(check|repair|backup)/);
    expect(refused.stderr).not.toMatch(/^\s+at /m);

    const check = await program.run('store', 'check', '--data-dir', server.dataDirectory);
    expect(check.code).toBe(1);
    expect(check.stdout).toContain('damaged: /core/configmaps/default/c7');
    const repair = await program.run('store', 'check', '--repair', '--data-dir', server.dataDirectory);
    expect(repair, repair.stderr).toMatchObject({ code: 0 });
    const revived = await program.up(here);
    const names = await withClient(revived, async (client) => {
      const { value } = await sendJson(client, 'GET', configMaps);
      return value.items.map(({ metadata }: JsonAnswer) => metadata.name as string);
    });
    expect(names).toContain('c8');
    expect(names).not.toContain('c7');
    await revived.process.stop();
  });

  it('is refused when its file is cut short or something else', async () => {
    const here = place('damaged');
    const file = join(here, 'data', 'store', 'data.mdb');
    const handle = await open(file, 'r+');
    await handle.truncate(5000);
    await handle.close();
    const cut = await program.run(...upArguments(here));
    expect(cut.code).toBe(1);
    expect(cut.stderr).toMatch(/hint: /);
    expect(cut.stderr).not.toMatch(/^\s+at /m);
    await copyFile(join(here, 'kubeconfig'), file);
    const other = await program.run(...upArguments(here));
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/hint: /);
  });
});

/** Overwrites every occurrence of a text in a file. */
async function overwrite(path: string, text: string, replacement: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    const content = await handle.readFile();
    let at = content.indexOf(text);
    expect(at).toBeGreaterThan(0);
    for (; at >= 0; at = content.indexOf(text, at + 1))
      await handle.write(Buffer.from(replacement), 0, replacement.length, at);
  } finally {
    await handle.close();
  }
}
