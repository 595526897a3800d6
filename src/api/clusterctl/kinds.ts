import { defineFlatKind, type Kind } from '../kind/define.ts';
import { ageColumn, textColumn } from '../kind/printer.ts';
import { object, once, string } from '../kind/schema.ts';
import type { Provider } from './types.ts';

export const providerKind: Kind<Provider> = defineFlatKind<Provider>({
  group: 'clusterctl.cluster.x-k8s.io',
  kind: 'Provider',
  plural: 'providers',
  description: 'A provider that is installed, as clusterctl keeps count of them.',
  labels: { 'clusterctl.cluster.x-k8s.io/core': 'inventory' },
  hub: {
    name: 'v1alpha3',
    hasStatus: false,
    topLevel: once(() =>
      object({
        providerName: string('Name of the provider.'),
        type: string('Type of the provider, such as InfrastructureProvider.'),
        version: string('Version of the provider.'),
        watchedNamespace: string('No longer used.'),
      }),
    ),
    columns: [
      ageColumn,
      textColumn('Type', '.type'),
      textColumn('Provider', '.providerName'),
      textColumn('Version', '.version'),
    ],
  },
});
