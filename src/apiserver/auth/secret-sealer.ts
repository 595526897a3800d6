import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { CapstanError, must } from '../../machinery/index.ts';
import { privateFileMode, readIfPresent, writeFileAtomic } from '../../pki/index.ts';

export interface SecretSealerOptions {
  /** Keep this file outside the data directory, so that a copy of the data does not include the key. */
  keyFile: string;
}

/** Encrypts sensitive values on disk. */
export interface SecretSealer {
  /** `key` is the storage key of the value; a sealed value can be opened only for the same key */
  seal(key: string, plain: Uint8Array): Uint8Array;
  /** throws CapstanError if the key file lacks the key or the value was modified */
  open(key: string, sealed: Uint8Array): Uint8Array;
  /** id of the current sealing key */
  readonly keyId: string;
}

interface SealingKey {
  id: string;
  bytes: Buffer;
}

const magic = Buffer.from('CAPS\x01', 'latin1');
const nonceLength = 12;
const tagLength = 16;
const keyLength = 32;

function newKey(): SealingKey {
  const bytes = randomBytes(keyLength);
  // The id is a hash of the key, so that keys of different files never share an id.
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes };
}

function formatKeys(keys: readonly SealingKey[]): string {
  const head =
    '# Keys that seal Secrets at rest. The first seals, all open. Losing this file loses the Secrets: back it up.\n';
  return head + keys.map(({ id, bytes }) => `${id} ${bytes.toString('base64')}\n`).join('');
}

function parseKeys(keyFile: string, content: string): SealingKey[] {
  const keys: SealingKey[] = [];
  content.split('\n').forEach((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return;
    const match = /^([A-Za-z0-9_.-]{1,64}) ([A-Za-z0-9+/]{43}=)\s*$/.exec(line);
    if (match === null) {
      throw new CapstanError('CAP_SEALING_KEY_INVALID', `${keyFile} line ${index + 1} is not a key`, {
        hint: 'each line must hold an id and 32 bytes in base64; restore the file from a backup',
      });
    }
    keys.push({ id: match[1] ?? '', bytes: Buffer.from(match[2] ?? '', 'base64') });
  });
  if (keys.length === 0) {
    throw new CapstanError('CAP_SEALING_KEY_INVALID', `${keyFile} holds no key`, {
      hint: 'restore the file from a backup; only if nothing was ever sealed, remove it to have a new key made',
    });
  }
  return keys;
}

/** Tells whether the bytes were made by `seal`. Stored JSON never starts with this prefix. */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes.length > magic.length && magic.equals(bytes.subarray(0, magic.length));
}

function createSealer(keyFile: string, keys: readonly SealingKey[]): SecretSealer {
  const byId = new Map(keys.map((key) => [key.id, key]));
  const current = must(keys[0], 'the first of keys');
  const header = Buffer.concat([magic, Buffer.from([current.id.length]), Buffer.from(current.id, 'latin1')]);

  return {
    keyId: current.id,
    seal(key, plain): Uint8Array {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce);
      cipher.setAAD(Buffer.concat([header, Buffer.from(key)]));
      const text = cipher.update(plain);
      cipher.final();
      return Buffer.concat([header, nonce, cipher.getAuthTag(), text]);
    },
    open(key, sealed): Uint8Array {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const idEnd = magic.length + 1 + (bytes[magic.length] ?? 0);
      const textStart = idEnd + nonceLength + tagLength;
      if (!isSealed(bytes) || bytes.length < textStart) {
        throw new CapstanError('CAP_SEALED_VALUE_DAMAGED', `the stored value of ${key} is not a sealed one`, {
          hint: 'restore the data directory from a backup',
        });
      }
      const id = bytes.toString('latin1', magic.length + 1, idEnd);
      const found = byId.get(id);
      if (found === undefined) {
        throw new CapstanError(
          'CAP_SEALING_KEY_MISSING',
          `${key} was sealed with key ${id}, which ${keyFile} does not hold`,
          { hint: `add the line of key ${id} to ${keyFile} from a backup of that file` },
        );
      }
      try {
        const decipher = createDecipheriv('aes-256-gcm', found.bytes, bytes.subarray(idEnd, idEnd + nonceLength), {
          authTagLength: tagLength,
        });
        decipher.setAAD(Buffer.concat([bytes.subarray(0, idEnd), Buffer.from(key)]));
        decipher.setAuthTag(bytes.subarray(idEnd + nonceLength, textStart));
        const plain = decipher.update(bytes.subarray(textStart));
        decipher.final();
        return plain;
      } catch (cause) {
        throw new CapstanError(
          'CAP_SEALED_VALUE_DAMAGED',
          `${key} does not open with key ${id} of ${keyFile}: the key or the stored value is not the one it was`,
          { hint: `restore ${keyFile} and the data directory from the same backup`, cause },
        );
      }
    },
  };
}

/**
 * Reads the keys and creates the file (readable only by its owner) if it is missing. Throws CapstanError
 * CAP_SEALING_KEY_INVALID for an invalid file.
 */
export async function secretSealer({ keyFile }: SecretSealerOptions): Promise<SecretSealer> {
  const content = await readIfPresent(keyFile);
  if (content !== undefined) return createSealer(keyFile, parseKeys(keyFile, content));
  const keys = [newKey()];
  await writeFileAtomic(keyFile, formatKeys(keys), privateFileMode);
  return createSealer(keyFile, keys);
}

/**
 * Adds a new key as the first one; values sealed with older keys can still be opened. Returns the id of the new key.
 */
export async function rotateSealingKey({ keyFile }: SecretSealerOptions): Promise<string> {
  const content = await readIfPresent(keyFile);
  const key = newKey();
  await writeFileAtomic(
    keyFile,
    formatKeys([key, ...(content === undefined ? [] : parseKeys(keyFile, content))]),
    privateFileMode,
  );
  return key.id;
}
