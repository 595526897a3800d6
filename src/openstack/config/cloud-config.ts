import type { TlsSettings } from '../transport/undici.ts';
import type { ServiceType } from './service-types.ts';

/** Identifies a user or project by id, or by name within a domain. */
export type Reference = { readonly id: string } | { readonly name: string; readonly domain: DomainReference };

export type DomainReference = { readonly id: string } | { readonly name: string };

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

/** Scope of a token. An application credential has its own. */
export type Scope =
  | { readonly kind: 'project'; readonly project: Reference }
  | { readonly kind: 'domain'; readonly domain: DomainReference }
  | { readonly kind: 'system' }
  | { readonly kind: 'trust'; readonly trustId: string }
  | { readonly kind: 'none' };

/** Settings of one service in clouds.yaml. */
export interface ServiceSettings {
  /** used instead of the catalogue */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly interfaces?: readonly string[] | undefined;
  /** service type to find in the catalogue */
  readonly serviceType?: string | undefined;
  readonly serviceName?: string | undefined;
  /** microversion to use instead of the newest one both sides support */
  readonly microversion?: string | undefined;
}

/** Connection settings of one cloud. */
export interface CloudConfig {
  /** name in clouds.yaml */
  readonly name: string;
  /** origin of the settings: a file, or a text such as `the environment` */
  readonly source: string;
  readonly authUrl: string;
  readonly credential: Credential;
  readonly scope: Scope;
  readonly region: string | undefined;
  /** endpoint interfaces in order of preference: `public`, `internal` or `admin` */
  readonly interfaces: readonly string[];
  readonly tls: TlsSettings;
  /** maximum wait for one response; undefined for the client's default */
  readonly timeoutMs: number | undefined;
  readonly services: Readonly<Partial<Record<ServiceType, ServiceSettings>>>;
  /** tolerated irregularities */
  readonly warnings: readonly string[];
}
