import type { Clock, KubeObject, Random } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { anonymousPathsAuthorizer, isOpen } from './anonymous-paths.ts';
import {
  type AuthorizationAttributes,
  type AuthorizationDecision,
  type Authorizer,
  forbiddenError,
} from './attributes.ts';
import {
  type Authenticator,
  bearerToken,
  type Credentials,
  createAuthenticator,
  type TokenAuthenticator,
} from './authenticator.ts';
import { alwaysAllowAuthorizer, mastersAuthorizer, unionAuthorizer } from './authorizers.ts';
import { bootstrapTokenAuthenticator, type SecretObject } from './bootstrap-tokens.ts';
import { clientCertificateAuthenticator } from './client-certificate.ts';
import { impersonatedUser } from './impersonation.ts';
import { type InProcessCheck, inProcessCheck } from './in-process-check.ts';
import { jwtSigningKey, jwtVerificationKey } from './jwt.ts';
import { nodeAuthorizer } from './node-authorizer.ts';
import { feedNodeRelations } from './node-feed.ts';
import { NodeRelationIndex } from './node-relations.ts';
import { type OidcAuthenticator, type OidcOptions, oidcAuthenticator } from './oidc/index.ts';
import { feedRbacIndex } from './policy-feed.ts';
import { rbacAuthorizer } from './rbac/authorizer.ts';
import { RbacIndex } from './rbac/rbac-index.ts';
import { type BoundObjectLookup, serviceAccountTokenAuthenticator } from './service-account-tokens.ts';
import { createTokenIssuer, type TokenIssuer } from './token-issuer.ts';
import { anonymousUser, systemGroups, type UserInfo } from './user.ts';

export interface AccessControlOptions {
  /** PEM of the CAs that sign trusted client certificates */
  clientCa?: string;
  /** checked before service account tokens */
  tokens?: readonly TokenAuthenticator[];
  serviceAccounts?: { issuer: string; signingKeyPem: string; olderKeysPem?: readonly string[] };
  /** accept bootstrap tokens (Secrets of kube-system) of joining nodes; default true */
  bootstrapTokens?: boolean;
  anonymous?: boolean;
  /** paths readable without credentials even when `anonymous` is off */
  anonymousPaths?: readonly string[];
  /** OpenID Connect issuer with accepted ID tokens */
  oidc?: OidcOptions & { onError(message: string): void };
  /** `AlwaysAllow` is for tests and for unreachable servers */
  mode: 'RBAC' | 'AlwaysAllow';
  /** restricts kubelets to objects of their own node; for servers that nodes join */
  nodes?: boolean;
  /** evaluated before RBAC */
  authorizers?: readonly Authorizer[];
}

/** Authentication, impersonation and authorization of one server. */
export class AccessControl {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly rbacIndex: RbacIndex;
  readonly tokenIssuer: TokenIssuer | undefined;
  readonly lookup: BoundObjectLookup;
  /** set if no other authorizer can refuse what RBAC allows */
  readonly #rbac: { authorizer: Authorizer; index: RbacIndex } | undefined;
  readonly #oidc: OidcAuthenticator | undefined;
  readonly #isAnonymousAllowed: (path: string) => boolean;
  readonly #inProcess = new WeakMap<UserInfo, InProcessCheck>();
  readonly #stops: (() => void)[] = [];

  constructor(options: AccessControlOptions, deps: { store: Store<StoredObject>; clock: Clock; random: Random }) {
    const { store, clock, random } = deps;
    this.lookup = storeLookup(store);
    this.rbacIndex = new RbacIndex();
    this.#stops.push(feedRbacIndex(store, this.rbacIndex));
    const tokens: TokenAuthenticator[] = [...(options.tokens ?? [])];
    if (options.serviceAccounts) {
      const { issuer, signingKeyPem, olderKeysPem = [] } = options.serviceAccounts;
      const signingKey = jwtSigningKey(signingKeyPem);
      const olderKeys = olderKeysPem.map(jwtVerificationKey);
      const audiences = [issuer];
      this.tokenIssuer = createTokenIssuer({ issuer, signingKey, olderKeys, audiences, clock, random });
      const keys = [signingKey, ...olderKeys];
      tokens.push(serviceAccountTokenAuthenticator({ issuers: [issuer], keys, audiences, lookup: this.lookup, clock }));
    }
    if (options.bootstrapTokens ?? true) {
      tokens.push(bootstrapTokenAuthenticator({ secret: (name) => this.lookup.secret('kube-system', name), clock }));
    }
    if (options.oidc) {
      const { onError, ...oidc } = options.oidc;
      const issuer = oidcAuthenticator(oidc, { clock, onError });
      this.#oidc = issuer;
      this.#stops.push(() => issuer.close());
      tokens.push(issuer.authenticate);
    }
    const { anonymous = false, anonymousPaths = [] } = options;
    this.#isAnonymousAllowed = (path) => anonymous || isOpen(anonymousPaths, path);
    this.authenticator = createAuthenticator({
      tokens,
      anonymous: anonymous || anonymousPaths.length > 0,
      ...(options.clientCa !== undefined && {
        certificates: clientCertificateAuthenticator({ authorities: options.clientCa, clock }),
      }),
    });
    if (options.mode === 'AlwaysAllow') this.authorizer = alwaysAllowAuthorizer;
    else {
      const authorizers = [...(options.authorizers ?? [])];
      if (options.nodes) {
        const relations = new NodeRelationIndex();
        this.#stops.push(feedNodeRelations(store, relations));
        authorizers.unshift(nodeAuthorizer(relations));
      }
      const rbac = rbacAuthorizer(this.rbacIndex);
      // The node authorizer only allows more, so it does not matter here.
      if (!options.authorizers?.length) this.#rbac = { authorizer: rbac, index: this.rbacIndex };
      if (anonymousPaths.length > 0) authorizers.push(anonymousPathsAuthorizer(anonymousPaths));
      this.authorizer = unionAuthorizer(mastersAuthorizer, ...authorizers, rbac);
    }
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  /** Returns a promise for data that must be fetched before a token can be verified; undefined if none is needed. */
  prepare(authorization: string | undefined): Promise<void> | undefined {
    if (!this.#oidc) return undefined;
    const token = bearerToken(authorization);
    return token === undefined ? undefined : this.#oidc.prepare(token);
  }

  /** Returns the user of a request; undefined means 401. */
  authenticate(credentials: Credentials, path: string): UserInfo | undefined {
    const requestor = this.authenticator.authenticate(credentials);
    return requestor === anonymousUser && !this.#isAnonymousAllowed(path) ? undefined : requestor;
  }

  /** Returns the user of a request after impersonation headers. Throws 403 if impersonation is not allowed. */
  impersonate(rawHeaders: readonly string[], requestor: UserInfo): UserInfo {
    return impersonatedUser(rawHeaders, requestor, this.authorizer);
  }

  /** Returns the authorization check for an in-process client; undefined for users who may do everything. */
  checkInProcess(user: UserInfo): InProcessCheck | undefined {
    if (this.authorizer === alwaysAllowAuthorizer || user.groups.includes(systemGroups.masters)) return undefined;
    let check = this.#inProcess.get(user);
    if (!check) {
      check = inProcessCheck(user, { authorizer: this.authorizer, rbac: this.#rbac });
      this.#inProcess.set(user, check);
    }
    return check;
  }

  /** Throws 403 unless the request is allowed. */
  check(attributes: AuthorizationAttributes): AuthorizationDecision {
    const decision = this.authorizer.authorize(attributes);
    if (decision.decision === 'allow') return decision;
    throw forbiddenError(attributes, decision.reason);
  }
}

function storeLookup(store: Store<StoredObject>): BoundObjectLookup {
  const find = (plural: string, namespace: string | undefined, name: string): KubeObject | undefined =>
    store.get(objectKey({ group: '', plural }, namespace, name))?.value.object;
  return {
    serviceAccount: (namespace, name) => find('serviceaccounts', namespace, name),
    secret: (namespace, name) => find('secrets', namespace, name) as SecretObject | undefined,
    pod: (namespace, name) => find('pods', namespace, name),
    node: (name) => find('nodes', undefined, name),
  };
}
