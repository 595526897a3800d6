import type { ConnectWorkload } from '../../shared/index.ts';
import type { ProviderDependencies } from '../plane-reconcile.ts';
import type { DialEndpoint } from './data-store/connect.ts';

export interface KamajiDependencies extends ProviderDependencies {
  /** connects to clusters without a Cluster object */
  connectWorkload: ConnectWorkload;
  /** namespace of objects that belong to no tenant; default `kamaji-system` */
  systemNamespace?: string;
  /** DataStore of control planes that name none; default `default` */
  defaultDataStore?: string;
  /** connects to data stores outside the management cluster; default TCP */
  dial?: DialEndpoint;
}

/** Settings with their defaults applied. */
export interface KamajiSettings {
  readonly systemNamespace: string;
  readonly defaultDataStore: string;
}

export const settingsOf = ({ systemNamespace, defaultDataStore }: KamajiDependencies): KamajiSettings => ({
  systemNamespace: systemNamespace ?? 'kamaji-system',
  defaultDataStore: defaultDataStore ?? 'default',
});
