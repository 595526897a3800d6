import type {
  ImageParam,
  NetworkParam,
  SecurityGroupParam,
  ServerGroupParam,
  SubnetParam,
} from '../../../api/index.ts';

/** Resolves names and filters in a server spec. Failures have a message for the author of the spec. */
export interface Finder {
  flavor(wanted: { readonly id?: string | undefined; readonly name?: string | undefined }): Promise<string>;
  image(param: ImageParam): Promise<string>;
  network(param: NetworkParam): Promise<string>;
  subnet(param: SubnetParam, networkId: string): Promise<string>;
  /** returns every match */
  securityGroups(param: SecurityGroupParam): Promise<readonly string[]>;
  serverGroup(param: ServerGroupParam): Promise<string>;
}
