export type EndpointInterface = 'public' | 'internal' | 'admin';

export const endpointInterfaces: readonly EndpointInterface[] = ['public', 'internal', 'admin'];

/** A service as the catalogue shows it. */
export interface CatalogEntry {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  /** `/compute` */
  readonly root: string;
  /** `/v2.1`; `{project}` is filled in */
  readonly path: string;
  readonly endpointIds: Readonly<Record<EndpointInterface, string>>;
}
