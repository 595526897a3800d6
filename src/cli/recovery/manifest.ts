import { CapstanError, isJsonObject } from '../../machinery/index.ts';

/** Metadata of an archive, its first entry. */
export interface RecoveryManifest {
  readonly layout: number;
  /** capstan version that wrote it */
  readonly version: string;
  readonly createdAt: string;
  /** server address in distributed kubeconfigs; empty if no server used the directory */
  readonly server: string;
  /** data that the store refers to, but that is not in the archive */
  readonly missing: readonly string[];
}

export const manifestName = 'manifest.json';
export const storeName = 'store.bak';
export const sealingKeysName = 'encryption.keys';
export const manifestLayout = 1;

export function parseManifest(text: string, file: string): RecoveryManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isJsonObject(value) || typeof value['layout'] !== 'number') {
    throw new CapstanError('CAP_BACKUP_UNKNOWN', `${file} has no list of its contents`);
  }
  const { layout, version, createdAt, server, missing } = value;
  if (layout > manifestLayout) {
    throw new CapstanError('CAP_BACKUP_TOO_NEW', `${file} was written by a newer capstan (${String(version)})`, {
      hint: 'use the Capstan version that wrote it, or a newer one',
    });
  }
  return {
    layout,
    version: String(version ?? ''),
    createdAt: String(createdAt ?? ''),
    server: String(server ?? ''),
    missing: Array.isArray(missing) ? missing.map(String) : [],
  };
}
