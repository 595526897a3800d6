import type {
  ImageParam,
  NetworkParam,
  SecurityGroupParam,
  ServerGroupParam,
  SubnetParam,
} from '../../../api/index.ts';

/** Finds what names and filters in a server's spec mean. Each fails with a sentence for the one who wrote the spec. */
export interface Finder {
  flavor(wanted: { readonly id?: string | undefined; readonly name?: string | undefined }): Promise<string>;
  image(param: ImageParam): Promise<string>;
  network(param: NetworkParam): Promise<string>;
  subnet(param: SubnetParam, networkId: string): Promise<string>;
  /** every match counts */
  securityGroups(param: SecurityGroupParam): Promise<readonly string[]>;
  serverGroup(param: ServerGroupParam): Promise<string>;
}
