import type { JsonObject } from '../../machinery/index.ts';
import { objectIf, objects, text, textIf, texts, textUnlessEmpty, timeIf } from '../resource/read.ts';
import type { Catalogue } from './catalogue.ts';

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Details of a token from keystone. */
export interface TokenInfo {
  readonly methods: readonly string[];
  readonly user: Named & { readonly domain: Named | undefined };
  readonly project: (Named & { readonly domain: Named | undefined }) | undefined;
  readonly domain: Named | undefined;
  readonly system: boolean;
  readonly roles: readonly Named[];
  readonly issuedAt: string | undefined;
  readonly expiresAt: string | undefined;
  readonly catalogue: Catalogue;
}

/** Parses the `token` of a response of `/v3/auth/tokens`. */
export function parseToken(token: JsonObject): TokenInfo {
  const user = objectIf(token, 'user') ?? {};
  const project = objectIf(token, 'project');
  const domain = objectIf(token, 'domain');
  return {
    methods: texts(token, 'methods'),
    user: withDomain(user),
    project: project && withDomain(project),
    domain: domain && named(domain),
    system: objectIf(token, 'system') !== undefined,
    roles: objects(token, 'roles', named),
    issuedAt: timeIf(token, 'issued_at'),
    expiresAt: timeIf(token, 'expires_at'),
    catalogue: objects(token, 'catalog', (service) => ({
      type: text(service, 'type'),
      name: textIf(service, 'name') ?? '',
      endpoints: objects(service, 'endpoints', (endpoint) => ({
        interface: text(endpoint, 'interface'),
        region: textUnlessEmpty(endpoint, 'region_id') ?? textUnlessEmpty(endpoint, 'region'),
        url: text(endpoint, 'url'),
      })),
    })),
  };
}

function named(value: JsonObject): Named {
  return { id: text(value, 'id'), name: textIf(value, 'name') ?? '' };
}

function withDomain(value: JsonObject): Named & { domain: Named | undefined } {
  const domain = objectIf(value, 'domain');
  return { ...named(value), domain: domain && named(domain) };
}
