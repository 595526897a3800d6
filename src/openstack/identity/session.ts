import { type Clock, isJsonObject, type Random, trimTrailing } from '../../machinery/index.ts';
import type { CloudConfig } from '../config/cloud-config.ts';
import type { ServiceType } from '../config/service-types.ts';
import { serviceUrls } from '../discovery/endpoint-url.ts';
import { type ApiVersions, parseVersions } from '../discovery/versions.ts';
import { isNotFound, isOpenStackError, OpenStackError } from '../errors/openstack-error.ts';
import { withoutLogin } from '../errors/redact.ts';
import { Answer } from '../http/answer.ts';
import { createExchange, type Exchange, type RequestObservation } from '../http/exchange.ts';
import type { Limiter } from '../http/limiter.ts';
import type { Log } from '../http/log.ts';
import type { Patience } from '../http/retry.ts';
import { objects, textUnlessEmpty } from '../resource/read.ts';
import type { Transport } from '../transport/types.ts';
import { authRequest } from './auth-request.ts';
import { parseToken } from './token.ts';
import { createTokenKeeper, type IssuedToken, type TokenKeeper } from './token-keeper.ts';

export interface SessionOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limiter: Limiter;
  readonly patience: Patience;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly onRequest?: ((observation: RequestObservation) => void) | undefined;
  readonly permit?: (() => void) | undefined;
}

/** time during which a rejected credential is not tried again */
const refusalMs = 30_000;

/** State shared by all users of one credential: the token, the service versions, the connections. */
export interface Session {
  readonly exchange: Exchange;
  readonly tokens: TokenKeeper;
  readonly clock: Clock;
  readonly transport: Transport;
  /** the version document at `url`, read once */
  versions(service: ServiceType, url: string): Promise<ApiVersions>;
}

/** Creates a session without network access. The first request obtains the token. */
export function createSession(config: CloudConfig, options: SessionOptions): Session {
  const exchange = createExchange(options);
  const tokens = createTokenKeeper({
    issue: () => issueToken(config, exchange, options.clock),
    isRefusal: (error) => isOpenStackError(error, 'unauthorized', 'forbidden') || isAboutCredential(error),
    clock: options.clock,
    log: options.log,
    refusalMs,
  });
  const documents = new Map<string, Promise<ApiVersions>>();

  const readVersions = async (service: ServiceType, url: string): Promise<ApiVersions> => {
    const base = url.replace(/\/$/, '');
    const request = { service, method: 'GET', base, path: '/' };
    const response = await exchange.send(request, tokens);
    const answer = new Answer({ service, method: 'GET', path: '/', origin: withoutLogin(base) }, response);
    const versions = parseVersions(answer.json(), /^v\d/);
    if (versions) return versions;
    throw answer.unexpected('the version document lists no versions');
  };

  return {
    exchange,
    tokens,
    clock: options.clock,
    transport: options.transport,
    versions(service, url) {
      let document = documents.get(url);
      if (!document) {
        document = readVersions(service, url);
        documents.set(url, document);
        // Failures are not cached.
        document.catch(() => documents.delete(url));
      }
      return document;
    },
  };
}

/**
 * Returns a view of the session for one configuration. Several configurations may contain the same credential; error
 * messages name the place each was read from.
 */
export function sessionSeenBy(session: Session, config: CloudConfig): Session {
  const inOwnWords = (error: unknown): never => {
    throw explain(config, error);
  };
  const { tokens } = session;
  return {
    ...session,
    tokens: {
      current: (signal) => tokens.current(signal).catch(inOwnWords),
      token: (signal) => tokens.token(signal).catch(inOwnWords),
      refused: tokens.refused,
    },
    versions: (service, url) => session.versions(service, url).catch(inOwnWords),
  };
}

async function issueToken(config: CloudConfig, exchange: Exchange, clock: Clock): Promise<IssuedToken> {
  const root = serviceUrls('identity', config.authUrl, undefined).resources;
  try {
    return await postToken(config, exchange, clock, root);
  } catch (error) {
    // Not found at the expected path: the cloud's version list may name another one.
    if (!isNotFound(error) || isAboutCredential(error)) throw error;
    const listed = await listedRoot(config, exchange).catch(() => undefined);
    if (listed === undefined || listed === root) throw error;
    return postToken(config, exchange, clock, listed);
  }
}

const tokensPath = '/auth/tokens';

async function postToken(config: CloudConfig, exchange: Exchange, clock: Clock, base: string): Promise<IssuedToken> {
  const request = { service: 'identity', method: 'POST', base, path: tokensPath } as const;
  // An additional token does no harm, so this POST may be repeated.
  const response = await exchange.send({ ...request, json: authRequest(config), repeatable: true });
  const answer = new Answer({ ...request, origin: withoutLogin(base) }, response);
  const value = answer.headers['x-subject-token'];
  if (value === undefined) throw answer.unexpected('the answer holds no token');
  const info = answer.one('token', parseToken);
  const now = clock.now();
  const issued = Date.parse(info.issuedAt ?? '');
  const expires = Date.parse(info.expiresAt ?? '');
  // Only the lifetime counts, because the clocks of the cloud and this machine may differ.
  const life = Number.isNaN(issued) ? expires - now : expires - issued;
  return { value, info, expiresAt: Number.isNaN(life) ? now + 3_600_000 : now + life };
}

/** Returns the v3 URL from keystone's version list, on the configured host. */
async function listedRoot(config: CloudConfig, exchange: Exchange): Promise<string | undefined> {
  const base = trimTrailing(config.authUrl, '/');
  const response = await exchange.send({ service: 'identity', method: 'GET', base, path: '/' });
  const document = new Answer(
    { service: 'identity', method: 'GET', path: '/', origin: withoutLogin(base) },
    response,
  ).object();
  const { versions } = document;
  const entries = isJsonObject(versions) ? objects(versions, 'values', (entry) => entry) : [];
  const v3 = entries.find((entry) => /^v3/.test(textUnlessEmpty(entry, 'id') ?? ''));
  const link = v3 && objects(v3, 'links', (entry) => textUnlessEmpty(entry, 'href')).find((href) => href !== undefined);
  if (link === undefined) return undefined;
  return new URL(config.authUrl).origin + trimTrailing(new URL(link, config.authUrl).pathname, '/');
}

/** keystone answers 404 for an unknown application credential, as for unknown paths. */
function isAboutCredential(error: unknown): boolean {
  return isNotFound(error) && /application credential/i.test(error.detail);
}

/** Adds to an error whose credential was rejected and which settings to check. */
function explain(config: CloudConfig, error: unknown): unknown {
  if (!isOpenStackError(error, 'unauthorized', 'notFound', 'forbidden', 'badRequest')) return error;
  if (error.service !== 'identity' || error.path !== tokensPath) return error;
  const known = { service: 'identity', method: error.method, path: error.path, status: error.status };
  const rest = { ...known, requestId: error.requestId, cause: error };
  const cloud = `cloud "${config.name}"`;
  if (error.kind === 'notFound' && !isAboutCredential(error)) {
    return new OpenStackError({
      ...rest,
      kind: 'notOpenStack',
      detail: `there is no Keystone v3 at ${withoutLogin(config.authUrl)}`,
      cure: `check auth_url of ${cloud} in ${config.source}`,
    });
  }
  const { who, cure } = describeCredential(config);
  return new OpenStackError({
    ...rest,
    kind: error.kind === 'badRequest' ? 'badRequest' : 'unauthorized',
    detail: `${cloud} does not accept ${who}: ${error.detail}`,
    cure: `${cure} in ${config.source}`,
  });
}

function describeCredential({ credential }: CloudConfig): { who: string; cure: string } {
  switch (credential.method) {
    case 'password': {
      const { user } = credential;
      return {
        who: `user "${'id' in user ? user.id : user.name}" with this password and scope`,
        cure: 'check username, password, domain and project',
      };
    }
    case 'token':
      return { who: 'this token', cure: 'get a new token (they expire), and check the scope' };
    case 'applicationCredential':
      return {
        who: `application credential "${'id' in credential ? credential.id : credential.name}"`,
        cure: 'check whether it has expired or was deleted, and its secret,',
      };
  }
}
