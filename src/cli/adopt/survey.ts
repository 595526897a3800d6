import {
  Clusters,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type ExtensionConfig,
  type Provider,
  Providers,
} from '../../api/index.ts';
import type { Connection } from '../connection.ts';
import { systemNamespace } from '../controller-identity.ts';
import { isKeptKind } from '../install/apply-kinds.ts';
import type { Installation } from '../install/installation.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { differencesOf, dormantTopologies } from './differences.ts';
import { findExtensions } from './extensions.ts';
import { type ClusterForecast, type ForecastIo, forecastRollouts } from './forecast.ts';
import { surveyK0smotronPlanes } from './k0smotron-planes.ts';
import { providerLabel } from './known-managers.ts';
import { listed } from './listed.ts';
import { type FoundManager, findManagers, type UnknownProvider } from './managers.ts';
import { obstaclesOf } from './obstacles.ts';
import { type FoundConfiguration, findConfigurations } from './webhooks.ts';

/** Current state, planned changes and obstacles of an adoption. */
export interface Survey {
  /** managers that the adoption stops */
  readonly managers: readonly FoundManager[];
  /** managers that keep running */
  readonly staying: readonly (UnknownProvider & { readonly title?: string })[];
  readonly configurations: readonly FoundConfiguration[];
  /** upstream definitions that ours replace */
  readonly kinds: readonly CustomResourceDefinition[];
  readonly inventory: readonly Provider[];
  /** runtime extensions that the stopped managers served */
  readonly extensions: readonly ExtensionConfig[];
  readonly forecasts: readonly ClusterForecast[];
  readonly differences: readonly string[];
  /** an adoption is refused while there are any */
  readonly obstacles: readonly string[];
}

/** Reads everything and changes nothing. */
export async function takeSurvey(
  { client, mapper }: Pick<Connection, 'client' | 'mapper'>,
  installation: Installation,
  { clock, random, signal }: Pick<ForecastIo, 'clock' | 'random' | 'signal'>,
): Promise<Survey> {
  const found = await findManagers(client, signal);
  const managers = found.managers.filter(({ known }) => known.fate !== 'stays');
  const staying = found.managers.filter(({ known }) => known.fate === 'stays');
  const all = await listed(client, CustomResourceDefinitions, signal);
  const ours = new Map(installation.kinds.map((crd) => [crd.metadata.name ?? '', crd]));
  const kinds = all.filter((crd) => ours.has(crd.metadata.name ?? '') && !isInstalledByUs(crd) && !isKeptKind(crd));
  const providers = new Set(managers.map(({ known }) => known.provider));
  const inventory = (await listed(client, Providers, signal)).filter(
    ({ metadata }) => metadata.namespace !== systemNamespace && providers.has(metadata.labels?.[providerLabel] ?? ''),
  );
  const forecasts = await forecastRollouts({ client, mapper, clock, random, signal });
  const clusters = await listed(client, Clusters, signal);
  const obstacles = await obstaclesOf(client, managers, all, { ours, signal });
  const planes = managers.some(({ known }) => known.planes) ? await surveyK0smotronPlanes(client, signal) : undefined;
  return {
    managers,
    staying: [
      ...found.unknown,
      ...staying.map(({ known, namespace, name }) => ({
        provider: known.provider,
        where: `${namespace}/${name}`,
        title: known.title,
      })),
    ],
    configurations: await findConfigurations(client, managers, signal),
    kinds,
    inventory,
    extensions: await findExtensions(client, managers, signal),
    forecasts,
    differences: [...differencesOf(managers, kinds, ours), ...(planes?.differences ?? [])],
    obstacles: [
      ...obstacles,
      ...(planes?.obstacles ?? []),
      ...dormantTopologies(managers, clusters),
      ...forecasts.flatMap(forecastObstacles),
      ...(managers.length === 0 && kinds.length === 0
        ? ['nothing of upstream was found here: `capstan install` installs']
        : []),
    ],
  };
}

function forecastObstacles({ namespace, name, rolled, problem }: ClusterForecast): string[] {
  const cluster = `Cluster ${namespace}/${name}`;
  if (problem !== undefined) return [`the effect on ${cluster} cannot be determined: ${problem}`];
  if (rolled.length === 0) return [];
  const [first] = rolled;
  return [
    `${cluster}: ${rolled.length} machines would be rolled, among them ${first?.machine} (${first?.because.join(', ')}); let upstream's managers finish what they are at, or correct what differs`,
  ];
}
