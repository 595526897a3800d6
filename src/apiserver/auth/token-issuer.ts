import {
  type Clock,
  fieldError,
  formatTime,
  type JsonObject,
  type KubeObject,
  parseApiVersion,
  type Random,
  statusError,
} from '../../machinery/index.ts';
import { type JwtSigningKey, type JwtVerificationKey, publicJwk, signJwt } from './jwt.ts';
import type { BoundObjectLookup } from './service-account-tokens.ts';
import { serviceAccountUsername } from './user.ts';

export const jwksPath = '/openid/v1/jwks';
export const openIdConfigurationPath = '/.well-known/openid-configuration';

export interface TokenIssuerOptions {
  /** https URL */
  issuer: string;
  signingKey: JwtSigningKey;
  /** older keys with still accepted tokens, published beside the signing key */
  olderKeys?: readonly JwtVerificationKey[];
  /** audiences of tokens without explicit ones */
  audiences: readonly string[];
  /** upper limit of token lifetimes; absent: no limit */
  maxExpirationSeconds?: number;
  clock: Clock;
  random: Random;
}

interface ObjectReference {
  name: string;
  uid: string;
}

export interface ServiceAccountTokenRequest {
  namespace: string;
  name: string;
  uid: string;
  audiences?: readonly string[];
  /** default: one hour */
  expirationSeconds?: number;
  /** the token is valid only while this object exists; the token of a pod may carry its node as information */
  bound?: { kind: 'Pod' | 'Secret' | 'Node'; object: ObjectReference; node?: Partial<ObjectReference> };
}

export interface IssuedToken {
  token: string;
  /** milliseconds since the epoch */
  expiresAt: number;
  audiences: readonly string[];
}

/** The TokenRequest of authentication.k8s.io/v1. */
export interface TokenRequest extends KubeObject {
  spec?: {
    audiences?: string[] | null;
    expirationSeconds?: number | null;
    boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string } | null;
  };
  status?: { token: string; expirationTimestamp: string };
}

export interface TokenIssuer {
  issueServiceAccountToken(request: ServiceAccountTokenRequest): IssuedToken;
  /**
   * Handles POST serviceaccounts/{name}/token: validates the request, finds the bound object and fills in the status.
   * `warnings` are for the Warning header. Throws ApiStatusError as kube-apiserver does.
   */
  answerTokenRequest(
    request: TokenRequest,
    serviceAccount: KubeObject,
    lookup: BoundObjectLookup,
  ): { response: TokenRequest; warnings: string[] };
  /** the document at /openid/v1/jwks */
  jwks(): JsonObject;
  /** the document at /.well-known/openid-configuration */
  openIdConfiguration(jwksUri: string): JsonObject;
}

const defaultExpirationSeconds = 3600;
const group = 'authentication.k8s.io';

type BoundObject = NonNullable<ServiceAccountTokenRequest['bound']>;

function objectReference(object: KubeObject): ObjectReference {
  return { name: object.metadata.name ?? '', uid: object.metadata.uid ?? '' };
}

function podBinding(pod: KubeObject, serviceAccountName: string, lookup: BoundObjectLookup): BoundObject {
  const spec = (pod as { spec?: { serviceAccountName?: string; nodeName?: string } }).spec ?? {};
  if (spec.serviceAccountName !== serviceAccountName) {
    throw statusError.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(serviceAccountName)} to pod running with different serviceaccount name.`,
    );
  }
  const node = spec.nodeName ? lookup.node(spec.nodeName) : undefined;
  return {
    kind: 'Pod',
    object: objectReference(pod),
    ...(spec.nodeName && { node: node === undefined ? { name: spec.nodeName } : objectReference(node) }),
  };
}

/** Finds the object of a boundObjectRef in the namespace of the service account. */
function resolveBinding(
  ref: NonNullable<NonNullable<TokenRequest['spec']>['boundObjectRef']>,
  namespace: string,
  serviceAccountName: string,
  lookup: BoundObjectLookup,
): BoundObject {
  const { group: refGroup, version } = parseApiVersion(ref.apiVersion ?? '');
  const name = ref.name ?? '';
  const kind = refGroup === '' ? ref.kind : undefined;
  if (kind !== 'Pod' && kind !== 'Secret' && kind !== 'Node') {
    throw statusError.badRequest(`cannot bind token to object of type ${refGroup}/${version}, Kind=${ref.kind ?? ''}`);
  }
  const find = { Pod: lookup.pod, Secret: lookup.secret, Node: (_: string, node: string) => lookup.node(node) }[kind];
  const object = find.call(lookup, namespace, name);
  if (object === undefined) throw statusError.notFound({ group: '', resource: `${kind.toLowerCase()}s`, name });
  const binding: BoundObject =
    kind === 'Pod' ? podBinding(object, serviceAccountName, lookup) : { kind, object: objectReference(object) };
  if (ref.uid !== undefined && ref.uid !== '' && ref.uid !== binding.object.uid) {
    throw statusError.conflict(
      { group: '', resource: kind, name },
      `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  return binding;
}

/** Creates service account tokens and publishes the data to verify them. */
export function createTokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const { signingKey, clock, random } = options;
  const keys: readonly JwtVerificationKey[] = [
    signingKey,
    ...(options.olderKeys ?? []).filter(({ id }) => id !== signingKey.id),
  ];

  const issueServiceAccountToken: TokenIssuer['issueServiceAccountToken'] = (request) => {
    const issuedAt = Math.floor(clock.now() / 1000);
    const expires = issuedAt + (request.expirationSeconds ?? defaultExpirationSeconds);
    const audiences =
      request.audiences !== undefined && request.audiences.length > 0 ? request.audiences : options.audiences;
    const { bound } = request;
    const boundClaims: JsonObject =
      bound === undefined
        ? {}
        : {
            [bound.kind.toLowerCase()]: { ...bound.object },
            ...(bound.node !== undefined && { node: { ...bound.node } as JsonObject }),
          };
    const token = signJwt(signingKey, {
      aud: [...audiences],
      exp: expires,
      iat: issuedAt,
      iss: options.issuer,
      jti: random.uuid(),
      'kubernetes.io': {
        namespace: request.namespace,
        ...boundClaims,
        serviceaccount: { name: request.name, uid: request.uid },
      },
      nbf: issuedAt,
      sub: serviceAccountUsername(request.namespace, request.name),
    });
    return { token, expiresAt: expires * 1000, audiences };
  };

  return {
    issueServiceAccountToken,
    answerTokenRequest(request, serviceAccount, lookup) {
      const name = serviceAccount.metadata.name ?? '';
      const namespace = serviceAccount.metadata.namespace ?? '';
      const uid = serviceAccount.metadata.uid ?? '';
      const asked = request.metadata ?? {};
      const mismatch = (field: 'name' | 'namespace', value: string): never => {
        throw statusError.invalid(group, 'TokenRequest', name, [
          fieldError.invalid(`metadata.${field}`, value, `must match the service account ${field} if specified`),
        ]);
      };
      if (asked.name && asked.name !== name) mismatch('name', asked.name);
      if (asked.namespace && asked.namespace !== namespace) mismatch('namespace', asked.namespace);
      if (asked.uid && asked.uid !== uid) {
        throw statusError.conflict(
          { group, resource: 'TokenRequest', name },
          `the UID in the token request (${asked.uid}) does not match the UID of the service account (${uid})`,
        );
      }
      let expirationSeconds = request.spec?.expirationSeconds ?? defaultExpirationSeconds;
      const limit =
        expirationSeconds < 600
          ? 'may not specify a duration less than 10 minutes'
          : expirationSeconds > 2 ** 32
            ? 'may not specify a duration larger than 2^32 seconds'
            : undefined;
      if (limit !== undefined) {
        throw statusError.invalid(group, 'TokenRequest', '', [
          fieldError.invalid('spec.expirationSeconds', expirationSeconds, limit),
        ]);
      }
      const ref = request.spec?.boundObjectRef ?? undefined;
      const bound = ref === undefined ? undefined : resolveBinding(ref, namespace, name, lookup);
      const warnings: string[] = [];
      const { maxExpirationSeconds } = options;
      if (maxExpirationSeconds !== undefined && expirationSeconds > maxExpirationSeconds) {
        warnings.push(
          `requested expiration of ${expirationSeconds} seconds shortened to ${maxExpirationSeconds} seconds`,
        );
        expirationSeconds = maxExpirationSeconds;
      }
      const now = clock.now();
      const issued = issueServiceAccountToken({
        namespace,
        name,
        uid,
        audiences: request.spec?.audiences ?? [],
        expirationSeconds,
        ...(bound !== undefined && { bound }),
      });
      const response: TokenRequest = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { ...asked, name, namespace, uid, creationTimestamp: formatTime(now) },
        spec: { audiences: [...issued.audiences], expirationSeconds, boundObjectRef: ref ?? null },
        status: { token: issued.token, expirationTimestamp: formatTime(issued.expiresAt) },
      };
      return { response, warnings };
    },
    jwks: () => ({ keys: keys.map(publicJwk) }),
    openIdConfiguration: (jwksUri) => ({
      issuer: options.issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
    }),
  };
}
