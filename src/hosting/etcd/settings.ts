import type { EtcdSettings } from '../facts.ts';
import type { EtcdClusterSpec } from '../spec.ts';
import { initialCluster } from './members.ts';

export const initialClusterKey = 'ETCD_INITIAL_CLUSTER';
export const initialClusterStateKey = 'ETCD_INITIAL_CLUSTER_STATE';
const claimsKey = 'claims';
const discardKey = 'discard';
const imageKey = 'image';

/** Converts settings to ConfigMap data. */
export function settingsData(settings: EtcdSettings): Record<string, string> {
  return {
    [initialClusterKey]: settings.initialCluster,
    [initialClusterStateKey]: settings.initialClusterState,
    [claimsKey]: JSON.stringify(sorted(settings.claims)),
    [discardKey]: JSON.stringify(sorted(settings.discard)),
    ...(settings.image !== undefined && { [imageKey]: settings.image }),
  };
}

/** Parses settings from ConfigMap data; undefined if Capstan did not write it. */
export function parseSettings(data: Readonly<Record<string, string>> | undefined): EtcdSettings | undefined {
  const cluster = data?.[initialClusterKey];
  if (data === undefined || cluster === undefined) return undefined;
  return {
    initialCluster: cluster,
    initialClusterState: data[initialClusterStateKey] === 'new' ? 'new' : 'existing',
    claims: stringMap(data[claimsKey]),
    discard: stringMap(data[discardKey]),
    ...(data[imageKey] !== undefined && { image: data[imageKey] }),
  };
}

/** Lists the names in ETCD_INITIAL_CLUSTER. */
export function settledNames({ initialCluster: text }: EtcdSettings): string[] {
  return text
    .split(',')
    .map((entry) => entry.split('=')[0] ?? '')
    .filter((name) => name !== '');
}

/** Settings for members that bootstrap together. */
export function bootstrapSettings(desired: EtcdClusterSpec, names: readonly string[]): EtcdSettings {
  return { initialCluster: initialCluster(desired, names), initialClusterState: 'new', claims: {}, discard: {} };
}

/** Malformed content counts as empty: the record is rebuilt from observations. */
function stringMap(text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, uid]) => typeof uid === 'string'));
  } catch {
    return {};
  }
}

function sorted(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
