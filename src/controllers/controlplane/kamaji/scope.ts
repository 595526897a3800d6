import type { ConnectWorkload } from '../../shared/index.ts';
import type { ProviderDependencies } from '../plane-reconcile.ts';
import type { DialEndpoint } from './data-store/connect.ts';

/** What the controllers of Kamaji's kinds are given. */
export interface KamajiDependencies extends ProviderDependencies {
  /** opens the way into a cluster that belongs to no Cluster */
  connectWorkload: ConnectWorkload;
  /** where what belongs to no tenant is kept; default `kamaji-system` */
  systemNamespace?: string;
  /** the DataStore of whoever names none; default `default` */
  defaultDataStore?: string;
  /** how data stores outside the management cluster are reached; default: by TCP */
  dial?: DialEndpoint;
}

/** What all of these controllers assume where nobody says anything. */
export interface KamajiSettings {
  readonly systemNamespace: string;
  readonly defaultDataStore: string;
}

export const settingsOf = ({ systemNamespace, defaultDataStore }: KamajiDependencies): KamajiSettings => ({
  systemNamespace: systemNamespace ?? 'kamaji-system',
  defaultDataStore: defaultDataStore ?? 'default',
});
