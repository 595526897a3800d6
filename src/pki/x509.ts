import { promptCrypto } from './prompt-crypto.ts';

type X509Library = typeof import('@peculiar/x509');

let library: Promise<X509Library> | undefined;

/**
 * The X.509 writer, loaded on first use: it costs a noticeable part of a start, and a server that only reads the files of
 * its last run never needs it. Its decorators want the metadata polyfill to be there first.
 */
export function loadX509(): Promise<X509Library> {
  library ??= import('reflect-metadata')
    .then(() => import('@peculiar/x509'))
    .then((loaded) => {
      loaded.cryptoProvider.set(promptCrypto);
      return loaded;
    });
  return library;
}
