import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import type { UnverifiedJwt } from '../jwt.ts';

/** Algorithms kube-apiserver takes for `--oidc-signing-algs`; none of them with a shared secret. */
export const oidcAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;
export type OidcAlgorithm = (typeof oidcAlgorithms)[number];

/** A key of an issuer. */
export interface IssuerKey {
  readonly id: string | undefined;
  /** the only algorithm it is for, when the issuer says so */
  readonly algorithm: string | undefined;
  readonly publicKey: KeyObject;
}

const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };
/** below this an RSA key can be broken */
const smallestRsaBits = 2048;

/** The keys of a JSON Web Key Set that can check signatures; those it cannot be of use for are passed over. */
export function parseKeySet(value: unknown): IssuerKey[] | undefined {
  const listed = typeof value === 'object' && value !== null ? (value as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(listed)) return undefined;
  return listed.flatMap((entry: unknown): IssuerKey[] => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { kty, kid, alg, use } = entry as Record<string, unknown>;
    if ((kty !== 'RSA' && kty !== 'EC') || (use !== undefined && use !== 'sig')) return [];
    try {
      const publicKey = createPublicKey({ key: entry as JsonWebKey, format: 'jwk' });
      if (kty === 'RSA' && (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) < smallestRsaBits) return [];
      return [
        {
          id: typeof kid === 'string' ? kid : undefined,
          algorithm: typeof alg === 'string' ? alg : undefined,
          publicKey,
        },
      ];
    } catch {
      return [];
    }
  });
}

/** Whether the key made the signature of the token by this algorithm. */
export function isSignedBy(
  jwt: UnverifiedJwt,
  { algorithm: only, publicKey }: IssuerKey,
  algorithm: OidcAlgorithm,
): boolean {
  if (only !== undefined && only !== algorithm) return false;
  const hash = `sha${algorithm.slice(2)}`;
  const signed = Buffer.from(jwt.signed);
  const isEc = algorithm.startsWith('ES');
  if (isEc !== (publicKey.asymmetricKeyType === 'ec')) return false;
  if (isEc) {
    if (publicKey.asymmetricKeyDetails?.namedCurve !== curves[algorithm]) return false;
    return verify(hash, signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, jwt.signature);
  }
  const padding = algorithm.startsWith('PS')
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { padding: constants.RSA_PKCS1_PADDING };
  return verify(hash, signed, { key: publicKey, ...padding }, jwt.signature);
}
