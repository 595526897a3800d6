import { createHash, KeyObject, sign, verify, webcrypto } from 'node:crypto';

type Bytes = ArrayBuffer | ArrayBufferView;
type Algorithm = string | { name: string; hash?: string | { name: string } };

function toBuffer(data: Bytes): Buffer {
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
}

function toArrayBuffer(buffer: Buffer): ArrayBuffer {
  const copy = new ArrayBuffer(buffer.byteLength);
  buffer.copy(new Uint8Array(copy));
  return copy;
}

/** "SHA-256" as Node calls it, from an algorithm or the key it is for. */
function hashName(algorithm: Algorithm, key?: webcrypto.CryptoKey): string {
  const hashes = [algorithm, key?.algorithm as Algorithm | undefined].map((source) =>
    typeof source === 'object' ? source.hash : undefined,
  );
  const hash = hashes.find((candidate) => candidate !== undefined) ?? (typeof algorithm === 'string' ? algorithm : '');
  return (typeof hash === 'string' ? hash : hash.name).replace('-', '').toLowerCase();
}

function nameOf(algorithm: Algorithm): string {
  return typeof algorithm === 'string' ? algorithm : algorithm.name;
}

const subtle = {
  async sign(algorithm: Algorithm, key: webcrypto.CryptoKey, data: Bytes): Promise<ArrayBuffer> {
    const name = nameOf(algorithm);
    if (name !== 'ECDSA' && name !== 'RSASSA-PKCS1-v1_5') {
      return webcrypto.subtle.sign(algorithm as webcrypto.AlgorithmIdentifier, key, toBuffer(data));
    }
    const options = { key: KeyObject.from(key), ...(name === 'ECDSA' && { dsaEncoding: 'ieee-p1363' as const }) };
    return toArrayBuffer(sign(hashName(algorithm, key), toBuffer(data), options));
  },
  async verify(algorithm: Algorithm, key: webcrypto.CryptoKey, signature: Bytes, data: Bytes): Promise<boolean> {
    const name = nameOf(algorithm);
    if (name !== 'ECDSA' && name !== 'RSASSA-PKCS1-v1_5') {
      const wish = algorithm as webcrypto.AlgorithmIdentifier;
      return webcrypto.subtle.verify(wish, key, toBuffer(signature), toBuffer(data));
    }
    const options = { key: KeyObject.from(key), ...(name === 'ECDSA' && { dsaEncoding: 'ieee-p1363' as const }) };
    return verify(hashName(algorithm, key), toBuffer(data), options, toBuffer(signature));
  },
  async digest(algorithm: Algorithm, data: Bytes): Promise<ArrayBuffer> {
    const name = nameOf(algorithm).replace('-', '').toLowerCase();
    return toArrayBuffer(createHash(name).update(toBuffer(data)).digest());
  },
  async exportKey(format: string, key: webcrypto.CryptoKey): Promise<ArrayBuffer | webcrypto.JsonWebKey> {
    if (format !== 'spki') return webcrypto.subtle.exportKey(format as 'pkcs8', key);
    return toArrayBuffer(KeyObject.from(key).export({ type: 'spki', format: 'der' }) as Buffer);
  },
  importKey: webcrypto.subtle.importKey.bind(webcrypto.subtle),
  generateKey: webcrypto.subtle.generateKey.bind(webcrypto.subtle),
};

/**
 * WebCrypto for the X.509 writer that does its work at once. Node's own hands every signature to another thread and back,
 * which costs more than signing, and lets real time decide what happens first where simulated time must.
 */
export const promptCrypto: webcrypto.Crypto = {
  subtle,
  getRandomValues: webcrypto.getRandomValues.bind(webcrypto),
} as unknown as webcrypto.Crypto;
