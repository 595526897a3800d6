import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';
import { type CloudProcess, startCloud } from './cloud-process.ts';

// Resources that users need before they can write a manifest.
describe('capstan create', () => {
  let cloud: CloudProcess;
  let directory: string;

  beforeAll(async () => {
    cloud = await startCloud({ args: [] });
    directory = await mkdtemp(join(tmpdir(), 'capstan-create-'));
  });
  afterAll(async () => {
    await cloud?.stop();
    if (directory) await rm(directory, { recursive: true, force: true });
  });

  const run = (args: readonly string[], input?: string) =>
    capstan([...args, '--cloud', 'openstack'], {
      env: { OS_CLIENT_CONFIG_FILE: cloud.cloudsYaml },
      ...(input !== undefined && { input }),
    });
  const inDirectory = (name: string): string => join(directory, name);

  describe('image', () => {
    it('uploads a disk with its properties, once', async () => {
      const file = inDirectory('node.qcow2');
      await writeFile(file, Buffer.concat([Buffer.from('QFI\xfb', 'latin1'), Buffer.alloc(2_000_000, 'x')]));
      const args = ['create', 'image', 'my node', '--file', file, '--property', 'kubernetes_version=v1.33.6'];
      const made = await run([...args, '--tag', 'mine', '--min-disk', '10', '-o', 'json']);
      expect(made, made.stderr).toMatchObject({ code: 0 });
      const { id } = JSON.parse(made.stdout) as { id: string };
      expect(JSON.parse(made.stdout)).toMatchObject({ status: 'active', diskFormat: 'qcow2', size: 2_000_004 });
      const { stdout } = await run(['get', 'images', '-o', 'json']);
      expect((JSON.parse(stdout) as { images: object[] }).images).toContainEqual(
        expect.objectContaining({ id, name: 'my node', kubernetesVersion: 'v1.33.6' }),
      );
      const again = await run(args);
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toContain(`has an image "my node" (${id}, active)`);
    });

    it('refuses a disk no server would boot from, and what the cloud forbids', async () => {
      const file = inDirectory('packed.img');
      await writeFile(file, Buffer.from('\xfd7zXZ\0 and so on', 'latin1'));
      const packed = await run(['create', 'image', 'packed', '--file', file]);
      expect(packed).toMatchObject({ code: 1 });
      expect(packed.stderr).toMatch(/compressed with xz[\s\S]*unxz/);
      await writeFile(file, 'a raw disk');
      const open = await run(['create', 'image', 'open', '--file', file, '--public']);
      expect(open).toMatchObject({ code: 1 });
      expect((await run(['get', 'images', '-o', 'name'])).stdout).not.toContain('open');
      expect(await run(['create', 'image', 'x', '--file', inDirectory('none')])).toMatchObject({ code: 1 });
      expect(await run(['create', 'image', 'x', '--file', file, '--property', 'odd'])).toMatchObject({ code: 2 });
      expect(await run(['create', 'image', 'x', '--file', file, '--public', '--private'])).toMatchObject({ code: 2 });
      expect(await run(['create', 'image', 'x'])).toMatchObject({ code: 2 });
    });
  });

  describe('keypair', () => {
    it('prints a new private key once, or writes it for its owner alone', async () => {
      const printed = await run(['create', 'keypair', 'printed']);
      expect(printed, printed.stderr).toMatchObject({ code: 0 });
      expect(printed.stdout).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/);
      expect(printed.stderr).toContain('key pair "printed" created');
      const file = inDirectory('my-key.pem');
      const written = await run(['create', 'keypair', 'my-key', '--private-key', file]);
      expect(written, written.stderr).toMatchObject({ code: 0 });
      expect(written.stdout).not.toContain('PRIVATE');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const before = await readFile(file, 'utf8');
      const again = await run(['create', 'keypair', 'other', '--private-key', file]);
      expect(again).toMatchObject({ code: 1 });
      expect(again.stderr).toContain('is not overwritten');
      expect(await readFile(file, 'utf8')).toBe(before);
      const taken = await run(['create', 'keypair', 'my-key', '--private-key', inDirectory('second')]);
      expect(taken).toMatchObject({ code: 1 });
      expect(taken.stderr).toContain('the cloud already has a key pair "my-key" of yours');
      await expect(stat(inDirectory('second'))).rejects.toThrow('ENOENT');
      expect((await run(['get', 'keypairs', '-o', 'name'])).stdout.split('\n')).toEqual(
        expect.arrayContaining(['printed', 'my-key']),
      );
    });

    it('imports a key of ssh-keygen', async (context) => {
      const file = inDirectory('id');
      const { error } = spawnSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '2048', '-N', '', '-C', 'me', '-f', file]);
      context.skip(error !== undefined, 'needs ssh-keygen');
      const wrong = await run(['create', 'keypair', 'mine', '--public-key', file]);
      expect(wrong).toMatchObject({ code: 1 });
      expect(wrong.stderr).toContain('is a private key');
      expect(wrong.stderr).not.toContain('BEGIN');
      const made = await run(['create', 'keypair', 'mine', '--public-key', `${file}.pub`, '-o', 'json']);
      expect(made, made.stderr).toMatchObject({ code: 0 });
      const { stdout } = spawnSync('ssh-keygen', ['-E', 'md5', '-lf', `${file}.pub`], { encoding: 'utf8' });
      const { fingerprint } = JSON.parse(made.stdout) as { fingerprint: string };
      expect(stdout).toContain(`MD5:${fingerprint} `);
      const piped = await run(
        ['create', 'keypair', 'piped', '--public-key', '-'],
        await readFile(`${file}.pub`, 'utf8'),
      );
      expect(piped, piped.stderr).toMatchObject({ code: 0 });
    });
  });
});
