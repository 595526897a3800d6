import { hkdfSync, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { CapstanError } from '../../machinery/index.ts';

/** Secret that seals an archive: a passphrase or the bytes of a key file. */
export type ArchiveSecret =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | { readonly kind: 'key'; readonly key: Uint8Array };

/** How the key is derived from the secret. It is in clear text in the header. */
export type KeyDerivation =
  | { readonly name: 'scrypt'; readonly salt: string; readonly N: number; readonly r: number; readonly p: number }
  | { readonly name: 'hkdf-sha256'; readonly salt: string };

export interface ArchiveKey {
  readonly bytes: Buffer;
  /** distinguishes a wrong secret from a damaged archive */
  readonly check: Buffer;
}

/** 128 MiB and a large part of a second per guess. */
const cost = { N: 2 ** 17, r: 8, p: 1 } as const;
/** Maximum cost accepted from an archive of unknown origin. */
const most = { N: 2 ** 20, r: 16, p: 4 } as const;
const keyLength = 32;
const checkLength = 16;
const shortestKey = 32;

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>;

export function newDerivation(secret: ArchiveSecret): KeyDerivation {
  const salt = randomBytes(16).toString('base64');
  return secret.kind === 'passphrase' ? { name: 'scrypt', salt, ...cost } : { name: 'hkdf-sha256', salt };
}

/** Derives the key of an archive. The secret must be of the kind that sealed it. */
export async function deriveKey(secret: ArchiveSecret, derivation: KeyDerivation): Promise<ArchiveKey> {
  const salt = Buffer.from(derivation.salt, 'base64');
  const expand = (material: Uint8Array): ArchiveKey => {
    const all = Buffer.from(hkdfSync('sha256', material, salt, 'capstan archive 1', keyLength + checkLength));
    return { bytes: all.subarray(0, keyLength), check: all.subarray(keyLength) };
  };
  if (derivation.name === 'hkdf-sha256') {
    if (secret.kind !== 'key') throw wrongKind('a key file', '--key-file FILE');
    if (secret.key.length < shortestKey) {
      throw new CapstanError(
        'CAP_USAGE',
        `--key-file: the key has ${secret.key.length} bytes, at least 32 are needed`,
        {
          hint: 'make one with: openssl rand -out FILE 32',
        },
      );
    }
    return expand(secret.key);
  }
  if (secret.kind !== 'passphrase') throw wrongKind('a passphrase', '--passphrase-file FILE');
  const { N, r, p } = derivation;
  return expand(await derive(secret.passphrase, salt, keyLength, { N, r, p, maxmem: 129 * N * r + 1024 * 1024 }));
}

/** Parses a key derivation. Returns undefined if it is damaged or too expensive. */
export function parseDerivation(value: unknown): KeyDerivation | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, salt, N, r, p } = value as Record<string, unknown>;
  if (typeof salt !== 'string' || salt.length > 128) return undefined;
  if (name === 'hkdf-sha256') return { name, salt };
  const within = (number: unknown, limit: number): number is number =>
    typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= limit;
  if (name !== 'scrypt' || !within(N, most.N) || !within(r, most.r) || !within(p, most.p)) return undefined;
  return (N & (N - 1)) === 0 && N > 1 ? { name, salt, N, r, p } : undefined;
}

export function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function wrongKind(what: string, flag: string): CapstanError {
  return new CapstanError('CAP_ARCHIVE_SECRET', `the archive was sealed with ${what}`, {
    hint: `give it with ${flag}`,
  });
}
