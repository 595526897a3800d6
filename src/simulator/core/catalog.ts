export type EndpointInterface = 'public' | 'internal' | 'admin';

export const endpointInterfaces: readonly EndpointInterface[] = ['public', 'internal', 'admin'];

/** A service in the catalogue. */
export interface CatalogEntry {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  /** for example `/compute` */
  readonly root: string;
  /** for example `/v2.1`; `{project}` is replaced by the project id */
  readonly path: string;
  readonly endpointIds: Readonly<Record<EndpointInterface, string>>;
}
