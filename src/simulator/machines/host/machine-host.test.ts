import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../../machinery/index.ts';
import { normalPath } from '../../../simkube/index.ts';
import { createCloud, type SimulatedCloud } from '../../cloud.ts';
import { smallWorld } from '../../testing/small-world.ts';
import { bootingCloud, testSoftware } from '../testing/booting-cloud.ts';
import { memoryDisks } from '../testing/lone-machine.ts';
import { openDisk } from './disk.ts';
import { hostnameOf } from './running-machine.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-machines-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('a persistent cloud with machines', () => {
  const userData = `#cloud-config
write_files: [{path: /etc/greeter, content: '80'}, {path: /run/gone, content: x}]
runcmd: ['echo x >> /runs', sleep 20, 'echo x >> /ends']
`;

  /** Reopens the persisted cloud on the same clock, like a new process. */
  async function again(clock: ManualClock, ran: string[]): Promise<SimulatedCloud> {
    return createCloud({
      clock,
      random: seededRandom(3),
      world: smallWorld,
      directory,
      machines: { software: () => testSoftware(ran) },
      onError: (error) => {
        throw error;
      },
    });
  }

  async function startServer(clock: ManualClock): Promise<string> {
    const { cloud, makeServer } = await bootingCloud({ clock, directory });
    const id = await makeServer({ user_data: Buffer.from(userData).toString('base64') });
    await clock.advance(15_000);
    await cloud.close();
    return id;
  }

  it('gives a machine its disk back and boots it without its user data', async () => {
    const clock = new ManualClock();
    const ran: string[] = [];
    const first = await bootingCloud({ clock, directory });
    const id = await first.makeServer({ user_data: Buffer.from(userData).toString('base64') });
    await clock.advance(60_000);
    expect(first.file(id, '/ends')).toBe('x\n');
    await first.cloud.close();
    const second = await again(clock, ran);
    await clock.advance(60_000);
    const disk = second.machines!.running(id)!.disk;
    expect([disk.read('/runs'), disk.read('/ends'), disk.read('/run/gone')]).toEqual(['x\n', 'x\n', undefined]);
    expect(ran).toEqual(['s: greeter']);
    await second.close();
  });

  it('starts a first boot over when the end of the program cut it short', async () => {
    const clock = new ManualClock();
    const id = await startServer(clock);
    const ran: string[] = [];
    const cloud = await again(clock, ran);
    await clock.advance(60_000);
    const disk = cloud.machines!.running(id)!.disk;
    expect([disk.read('/runs'), disk.read('/ends')]).toEqual(['x\n', 'x\n']);
    expect(ran).toEqual([`forget ${id}`, 's: greeter']);
    await cloud.close();
  });
});

describe('a disk', () => {
  it.each([
    ['/a//b/./c/', '/a/b/c'],
    ['/a/../b', '/b'],
    ['/var/run/x', '/run/x'],
    ['/', '/'],
    ['/../..', '/'],
  ])('normalizes %s to %s', (given, expected) => {
    expect(normalPath(given)).toBe(expected);
  });

  it('stores files, directories and modes', () => {
    const disk = openDisk(memoryDisks(), 'id');
    disk.write('/etc/a/b', '1', 0o600);
    disk.write('/etc//a/b', '2');
    disk.makeDirectory('/etc/empty');
    expect([disk.read('/etc/a/b'), disk.mode('/etc/a/b'), disk.list('/etc/')]).toEqual(['2', 0o600, ['/etc/a/b']]);
    expect([disk.isDirectory('/etc/a'), disk.isDirectory('/etc/empty'), disk.isDirectory('/etc/a/b')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([disk.removeTree('/etc/a'), disk.removeTree('/etc/a'), disk.list('/')]).toEqual([true, false, []]);
  });
});

describe('a host name', () => {
  it.each([
    ['Node_1 x', 'node-1-x'],
    ['.-a.b-', 'a.b'],
    ['Ünï', 'n'],
    ['!!', 'server'],
  ])('made from %s is %s', (name, expected) => {
    expect(hostnameOf(name)).toBe(expected);
  });
});
