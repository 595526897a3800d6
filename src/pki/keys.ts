import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  webcrypto,
} from 'node:crypto';
import { promisify } from 'node:util';

/** P-256 is quick to make and understood by everything; the others are for settings that ask for them. */
export type KeyAlgorithm = 'ECDSA-P256' | 'ECDSA-P384' | 'RSA-2048' | 'RSA-3072' | 'RSA-4096';

export interface KeyPair {
  /** PEM; SEC 1 for EC and PKCS #1 for RSA, the forms Kubernetes tools write */
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

/** Makes a key pair; those that take long are made off the event loop. */
export async function generateKeys(algorithm: KeyAlgorithm = 'ECDSA-P256'): Promise<KeyPair> {
  const kind = kinds[algorithm];
  const isRsa = 'modulusLength' in kind;
  const pair = isRsa ? await generate('rsa', kind) : generateKeyPairSync('ec', kind);
  return {
    privateKey: pair.privateKey.export({ type: isRsa ? 'pkcs1' : 'sec1', format: 'pem' }) as string,
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
}

/** Keys that sign service account tokens. */
export function createServiceAccountKeyPair(algorithm: KeyAlgorithm = 'ECDSA-P256'): Promise<KeyPair> {
  return generateKeys(algorithm);
}

/** The public half (SubjectPublicKeyInfo, PEM) of a private or public key. */
export function publicKeyOf(pem: string): string {
  return createPublicKey(pem).export({ type: 'spki', format: 'pem' }) as string;
}

export interface SigningAlgorithm {
  name: 'ECDSA' | 'RSASSA-PKCS1-v1_5';
  namedCurve?: string;
  hash: string;
}

const curves: Readonly<Record<string, { namedCurve: string; hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
};

/** How WebCrypto must be told to use a key. */
export function signingAlgorithm(key: KeyObject): SigningAlgorithm {
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'ec' && curve !== undefined) return { name: 'ECDSA', ...curve };
  throw new TypeError(`keys of type ${key.asymmetricKeyType ?? 'unknown'} are not supported; use RSA or an EC key`);
}

export interface ImportedKeys {
  privateKey: webcrypto.CryptoKey;
  publicKey: webcrypto.CryptoKey;
  algorithm: SigningAlgorithm;
}

const recentKeys = new Map<string, Promise<ImportedKeys>>();
const maxRecentKeys = 64;

/** A PEM private key as the pair of WebCrypto keys the certificate writer works with. Authorities are used again and again. */
export function importKeys(privateKeyPem: string): Promise<ImportedKeys> {
  let imported = recentKeys.get(privateKeyPem);
  if (!imported) {
    imported = importNewKeys(privateKeyPem);
    // What cannot be read is not worth remembering.
    imported.catch(() => recentKeys.delete(privateKeyPem));
    if (recentKeys.size >= maxRecentKeys) recentKeys.delete(recentKeys.keys().next().value!);
    recentKeys.set(privateKeyPem, imported);
  }
  return imported;
}

async function importNewKeys(privateKeyPem: string): Promise<ImportedKeys> {
  const privateKey = createPrivateKey(privateKeyPem);
  const algorithm = signingAlgorithm(privateKey);
  const [imported, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', privateKey.export({ type: 'pkcs8', format: 'der' }), algorithm, true, ['sign']),
    importPublicKey(createPublicKey(privateKey)),
  ]);
  return { privateKey: imported, publicKey, algorithm };
}

export function importPublicKey(key: KeyObject): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('spki', key.export({ type: 'spki', format: 'der' }), signingAlgorithm(key), true, [
    'verify',
  ]);
}
