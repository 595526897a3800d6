import { createPrivateKey, createPublicKey, generateKeyPair, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { must } from '../machinery/index.ts';

/** P-256 is fast to generate and widely supported. The others are for configurations that request them. */
export type KeyAlgorithm = 'ECDSA-P256' | 'ECDSA-P384' | 'RSA-2048' | 'RSA-3072' | 'RSA-4096';

export interface KeyPair {
  /** PEM; SEC 1 for EC and PKCS #1 for RSA, as Kubernetes tools write them */
  privateKey: string;
  /** PEM, SubjectPublicKeyInfo */
  publicKey: string;
}

const generate = promisify(generateKeyPair);

const kinds: Readonly<Record<KeyAlgorithm, { modulusLength: number } | { namedCurve: string }>> = {
  'ECDSA-P256': { namedCurve: 'prime256v1' },
  'ECDSA-P384': { namedCurve: 'secp384r1' },
  'RSA-2048': { modulusLength: 2048 },
  'RSA-3072': { modulusLength: 3072 },
  'RSA-4096': { modulusLength: 4096 },
};

/** Generates a key pair. Slow algorithms run off the event loop. */
export async function generateKeys(algorithm: KeyAlgorithm = 'ECDSA-P256'): Promise<KeyPair> {
  const kind = kinds[algorithm];
  return 'modulusLength' in kind ? written(await generate('rsa', kind), true) : generateKeysAtOnce(algorithm);
}

/** Generates a key pair synchronously. RSA keys block the event loop for a while. */
export function generateKeysAtOnce(algorithm: KeyAlgorithm): KeyPair {
  const kind = kinds[algorithm];
  const isRsa = 'modulusLength' in kind;
  return written(isRsa ? generateKeyPairSync('rsa', kind) : generateKeyPairSync('ec', kind), isRsa);
}

function written(pair: { privateKey: KeyObject; publicKey: KeyObject }, isRsa: boolean): KeyPair {
  const privateKey = pair.privateKey.export({ type: isRsa ? 'pkcs1' : 'sec1', format: 'pem' }) as string;
  // Most new keys sign something at once, so the parsed key is cached.
  remember(privateKey, pair.privateKey);
  return { privateKey, publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }) as string };
}

/** Generates the keys that sign service account tokens. */
export function createServiceAccountKeyPair(algorithm: KeyAlgorithm = 'ECDSA-P256'): Promise<KeyPair> {
  return generateKeys(algorithm);
}

/** Returns the public key (SubjectPublicKeyInfo, PEM) of a private or public key. */
export function publicKeyOf(pem: string): string {
  return createPublicKey(pem).export({ type: 'spki', format: 'pem' }) as string;
}

const recentKeys = new Map<string, KeyObject>();
const maxRecentKeys = 256;

function remember(privateKeyPem: string, key: KeyObject): void {
  if (recentKeys.size >= maxRecentKeys) recentKeys.delete(must(recentKeys.keys().next().value, 'the oldest'));
  recentKeys.set(privateKeyPem, key);
}

/**
 * Returns a parsed PEM private key. Cached, because authorities sign repeatedly and parsing takes longer than signing.
 */
export function signingKey(privateKeyPem: string): KeyObject {
  let key = recentKeys.get(privateKeyPem);
  if (!key) {
    key = createPrivateKey(privateKeyPem);
    remember(privateKeyPem, key);
  }
  return key;
}
