import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../machinery/index.ts';

export type JwtAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

/** A public key for token verification. The algorithm is fixed by the key and never taken from the token. */
export interface JwtVerificationKey {
  readonly id: string;
  readonly algorithm: JwtAlgorithm;
  readonly publicKey: KeyObject;
}

export interface JwtSigningKey extends JwtVerificationKey {
  readonly privateKey: KeyObject;
}

const ecAlgorithms: Readonly<Record<string, JwtAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

const hashes: Readonly<Record<JwtAlgorithm, string>> = {
  RS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
};

function algorithmOf(key: KeyObject): JwtAlgorithm {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = ecAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'ec' && algorithm !== undefined) return algorithm;
  throw new TypeError(`tokens cannot be signed with ${key.asymmetricKeyType ?? 'such'} keys; use RSA or an EC key`);
}

/** Reads a PEM public key, or the public half of a private key. The id is kube-apiserver's: a hash of the key. */
export function jwtVerificationKey(pem: string): JwtVerificationKey {
  const publicKey = createPublicKey(pem);
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return { id: createHash('sha256').update(spki).digest('base64url'), algorithm: algorithmOf(publicKey), publicKey };
}

export function jwtSigningKey(privateKeyPem: string): JwtSigningKey {
  return { ...jwtVerificationKey(privateKeyPem), privateKey: createPrivateKey(privateKeyPem) };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signJwt(key: JwtSigningKey, claims: JsonObject): string {
  const signed = `${encode({ alg: key.algorithm, kid: key.id })}.${encode(claims)}`;
  const signature = sign(hashes[key.algorithm], Buffer.from(signed), {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return `${signed}.${signature.toString('base64url')}`;
}

/** A decoded token, not to be trusted before `verifyJwt`. */
export interface UnverifiedJwt {
  header: JsonObject;
  claims: JsonObject;
  signed: string;
  signature: Buffer;
}

/** Refuses non-canonical encodings, so that each token has exactly one spelling. */
function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function decodeObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(decodeBase64Url(text)?.toString('utf8') ?? '');
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes a compact JWT; returns undefined for other texts. */
export function decodeJwt(token: string): UnverifiedJwt | undefined {
  const [headerText = '', claimsText = '', signatureText, ...more] = token.split('.');
  if (signatureText === undefined || more.length > 0) return undefined;
  const header = decodeObject(headerText);
  const claims = decodeObject(claimsText);
  const signature = decodeBase64Url(signatureText);
  if (header === undefined || claims === undefined || signature === undefined) return undefined;
  return { header, claims, signed: `${headerText}.${claimsText}`, signature };
}

/** Tells whether one of the keys signed the token. A token with a known key id is checked only with that key. */
export function verifyJwt(jwt: UnverifiedJwt, keys: readonly JwtVerificationKey[]): boolean {
  const named = keys.filter(({ id }) => id === jwt.header['kid']);
  return (named.length > 0 ? named : keys).some(
    (key) =>
      jwt.header['alg'] === key.algorithm &&
      verify(
        hashes[key.algorithm],
        Buffer.from(jwt.signed),
        { key: key.publicKey, dsaEncoding: 'ieee-p1363' },
        jwt.signature,
      ),
  );
}

/** Returns the public key as JSON Web Key for /openid/v1/jwks. */
export function publicJwk(key: JwtVerificationKey): JsonObject {
  const { kty, ...parameters } = key.publicKey.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: key.id, alg: key.algorithm, ...(parameters as JsonObject) } as JsonObject;
}
