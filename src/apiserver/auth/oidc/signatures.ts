import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import type { UnverifiedJwt } from '../jwt.ts';

/** Algorithms that kube-apiserver accepts for `--oidc-signing-algs`; all are asymmetric. */
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
  /** the only allowed algorithm of the key, if the issuer specifies one */
  readonly algorithm: string | undefined;
  readonly publicKey: KeyObject;
}

const curves: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' };
/** Smaller RSA keys are insecure. */
const smallestRsaBits = 2048;

/** Parses a JSON Web Key Set and skips keys that cannot verify signatures. */
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
