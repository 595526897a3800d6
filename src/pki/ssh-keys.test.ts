import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateSshKeys, readSshPublicKey } from './ssh-keys.ts';

const hasKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined;

describe('SSH keys', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'capstan-ssh-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it.skipIf(!hasKeygen)('are read by ssh-keygen, and both halves belong together (needs ssh-keygen)', () => {
    for (const comment of ['', 'a', 'me@host', 'seven77', 'a longer comment']) {
      const { privateKey, publicKey } = generateSshKeys(comment);
      const file = join(directory, `key-${comment.length}`);
      writeFileSync(file, privateKey, { mode: 0o600 });
      const { stdout, stderr } = spawnSync('ssh-keygen', ['-y', '-P', '', '-f', file], { encoding: 'utf8' });
      expect(stdout.trim().split(' ').slice(0, 2), stderr).toEqual(publicKey.split(' ').slice(0, 2));
    }
  });

  it('are written in blocks of eight bytes and differ each time', () => {
    const [first, second] = [generateSshKeys('a'), generateSshKeys('a')];
    expect(first.publicKey).not.toBe(second.publicKey);
    expect(readSshPublicKey(`# mine\n${first.publicKey}\n`, 'x')).toBe(first.publicKey);
    expect(first.privateKey).toMatch(
      /^-----BEGIN OPENSSH PRIVATE KEY-----\n[\s\S]*\n-----END OPENSSH PRIVATE KEY-----\n$/,
    );
  });

  it.each([
    ['-----BEGIN OPENSSH PRIVATE KEY-----\n', /is a private key.*/],
    ['', /is empty/],
    ['\n# only words\n', /is empty/],
    ['ssh-ed25519 nonsense', /is no public key/],
    ['ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIMuoOw17Ha6dKWg2vHQJjeOD/Q/Bwbw24RRl0/zaDxb/', /is no public key/],
    ['hello', /is no public key/],
  ])('%j is refused with an explanation', (text, says) => {
    expect(() => readSshPublicKey(text, 'id.pub')).toThrow(says);
  });

  it('are refused when a file holds several', () => {
    const { publicKey } = generateSshKeys('a');
    expect(() => readSshPublicKey(`${publicKey}\n${publicKey}\n`, 'id.pub')).toThrow('id.pub holds 2 keys');
  });
});
