import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto';
import { CapstanError, must } from '../machinery/index.ts';

/** A key pair in the format of ssh-keygen. */
export interface SshKeyPair {
  /** content of the file for `ssh -i` */
  readonly privateKey: string;
  /** one line, as in authorized_keys */
  readonly publicKey: string;
}

const type = 'ssh-ed25519';

/**
 * Generates an Ed25519 key pair. The private key uses OpenSSH's own format, the only one that all its versions support
 * for Ed25519.
 */
export function generateSshKeys(comment: string): SshKeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { x, d }: JsonWebKey = privateKey.export({ format: 'jwk' });
  const point = Buffer.from(must(x, 'the public half'), 'base64url');
  const seed = Buffer.from(must(d, 'the private half'), 'base64url');
  const blob = Buffer.concat([field(type), field(point)]);
  return { publicKey: `${type} ${blob.toString('base64')} ${comment}`, privateKey: armour(blob, seed, point, comment) };
}

/** Encodes the container openssh-key-v1 without a passphrase. */
function armour(blob: Buffer, seed: Buffer, point: Buffer, comment: string): string {
  // Readers compare the two copies of this number to detect a failed decryption.
  const check = randomBytes(4);
  const secret = [check, check, field(type), field(point), field(Buffer.concat([seed, point])), field(comment)];
  const length = secret.reduce((sum, part) => sum + part.length, 0);
  // The padding is 1, 2, 3 … up to a multiple of eight bytes.
  const padding = Buffer.from(Array.from({ length: (8 - (length % 8)) % 8 }, (_, index) => index + 1));
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    number(1),
    field(blob),
    field(Buffer.concat([...secret, padding])),
  ]);
  const lines = body.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([number(bytes.length), bytes]);
}

/** Reads a public key file of `ssh-keygen`. The error names what the file contains instead. */
export function readSshPublicKey(text: string, source: string): string {
  const wrong = (what: string, hint: string): CapstanError =>
    new CapstanError('CAP_SSH_KEY', `${source} ${what}`, { hint });
  if (text.includes('PRIVATE KEY-----')) {
    throw wrong(
      'is a private key, which belongs nowhere but on your computer',
      'name its public half, as in id_ed25519.pub',
    );
  }
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [key] = keys;
  if (key === undefined) throw wrong('is empty', 'ssh-keygen -t ed25519 makes a key pair');
  if (keys.length > 1) throw wrong(`holds ${keys.length} keys`, 'a key pair is one: put it into a file of its own');
  const [kind = '', blob = ''] = key.split(/\s+/, 2);
  const bytes = Buffer.from(blob, 'base64');
  const length = bytes.length < 4 ? 0 : bytes.readUInt32BE();
  if (kind === '' || bytes.subarray(4, 4 + length).toString() !== kind) {
    throw wrong(
      'is no public key in the form of authorized_keys',
      'ssh-keygen -y -f PRIVATE_KEY prints the public half of a key',
    );
  }
  return key;
}
