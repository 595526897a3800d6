import type { TlsSettings } from '../transport/undici.ts';
import type { ServiceType } from './service-types.ts';

/** Who a user is: an id, or a name within a domain. */
export type Reference = { readonly id: string } | { readonly name: string; readonly domain: DomainReference };

export type DomainReference = { readonly id: string } | { readonly name: string };

/** What proves who we are. */
export type Credential =
  | { readonly method: 'password'; readonly user: Reference; readonly password: string }
  | { readonly method: 'token'; readonly token: string }
  | { readonly method: 'applicationCredential'; readonly id: string; readonly secret: string }
  | {
      readonly method: 'applicationCredential';
      readonly name: string;
      readonly user: Reference;
      readonly secret: string;
    };

/** What a token is good for. An application credential brings its own. */
export type Scope =
  | { readonly kind: 'project'; readonly project: Reference }
  | { readonly kind: 'domain'; readonly domain: DomainReference }
  | { readonly kind: 'system' }
  | { readonly kind: 'trust'; readonly trustId: string }
  | { readonly kind: 'none' };

/** What clouds.yaml says about one service. */
export interface ServiceSettings {
  /** used instead of the catalogue */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly interfaces?: readonly string[] | undefined;
  /** the type to look for in the catalogue */
  readonly serviceType?: string | undefined;
  readonly serviceName?: string | undefined;
  /** the microversion to use, instead of the newest both sides know */
  readonly microversion?: string | undefined;
}

/** One cloud, ready to connect to. */
export interface CloudConfig {
  /** the name in clouds.yaml */
  readonly name: string;
  /** where it was read: a file, or words such as `the environment` */
  readonly source: string;
  readonly authUrl: string;
  readonly credential: Credential;
  readonly scope: Scope;
  readonly region: string | undefined;
  /** which kind of endpoints, the most wanted first: `public`, `internal` or `admin` */
  readonly interfaces: readonly string[];
  readonly tls: TlsSettings;
  /** longest wait for one answer; undefined leaves it to the client */
  readonly timeoutMs: number | undefined;
  readonly services: Readonly<Partial<Record<ServiceType, ServiceSettings>>>;
  /** what was odd and is tolerated */
  readonly warnings: readonly string[];
}
