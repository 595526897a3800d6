import { trimTrailing } from '../machinery/index.ts';
import { ArtifactError } from './errors.ts';

export interface RepositoryName {
  /** `registry.example.com` or `127.0.0.1:5000` */
  readonly host: string;
  /** `charts/cilium` */
  readonly path: string;
  readonly scheme: 'https' | 'http';
}

const hostShape = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/;
const pathShape = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
export const tagShape: RegExp = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** Parses `oci://host/path`, `host/path` or https://; with http://, the registry has no TLS. */
export function readRepository(given: string): RepositoryName {
  const text = given.slice(0, 1_000);
  const bare = trimTrailing(text.replace(/^(?:oci|https|http):\/\//, ''), '/');
  const slash = bare.indexOf('/');
  const host = slash < 0 ? bare : bare.slice(0, slash);
  const path = slash < 0 ? '' : bare.slice(slash + 1);
  if (!hostShape.test(host) || !pathShape.test(path) || path.length > 255) {
    throw new ArtifactError('invalid', `${JSON.stringify(shown(text))} is no repository of a registry`, {
      hint: 'write it like oci://registry.example.com/charts/name, in lower case and without credentials',
    });
  }
  // The API of docker.io has another host.
  const address = host === 'docker.io' ? 'registry-1.docker.io' : host;
  return { host: address, path, scheme: text.startsWith('http://') ? 'http' : 'https' };
}

const shown = (text: string): string => text.slice(0, 300).replace(/\/\/[^/@]*@/, '//');

export const repositoryUrl = ({ host, scheme }: RepositoryName): URL => new URL(`${scheme}://${host}/`);
export const repositoryText = ({ host, path }: RepositoryName): string => `oci://${host}/${path}`;
