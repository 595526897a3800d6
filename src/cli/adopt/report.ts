import { asJson, type JsonObject } from '../../machinery/index.ts';
import type { Survey } from './survey.ts';

export function surveyText(survey: Survey): string {
  const { managers, staying, configurations, kinds, extensions, forecasts, differences, obstacles } = survey;
  const machines = forecasts.reduce((sum, one) => sum + one.machines, 0);
  const rolled = forecasts.reduce((sum, one) => sum + one.rolled.length, 0);
  const webhooks = configurations.reduce((sum, { stopped }) => sum + stopped.length, 0);
  const lines = [
    'managers that would be stopped',
    ...managers.map(
      ({ known, namespace, name, version, replicas }) =>
        `  ${namespace}/${name}: ${known.title} ${version ?? 'of unknown version'}, ${count(replicas, 'replica')}`,
    ),
    ...(staying.length > 0 ? ['providers that would stay as they are'] : []),
    ...staying.map(({ provider, where, title }) => `  ${where}: ${title ?? provider}`),
    `webhooks that would be switched off: ${webhooks} in ${count(configurations.length, 'configuration')}`,
    `kinds that would be served by us: ${kinds.length}`,
    ...(extensions.length > 0
      ? [`runtime extensions that would be removed: ${extensions.map(({ metadata }) => metadata.name).join(', ')}`]
      : []),
    `clusters: ${forecasts.length}, with ${count(machines, 'machine')}; ${count(rolled, 'machine')} rolled`,
    ...forecasts.flatMap(({ namespace, name, changes, ...forecast }) => [
      `  ${namespace}/${name}: ${count(forecast.machines, 'machine')}, ${forecast.rolled.length} rolled`,
      ...forecast.rolled.map(({ machine, because }) => `    ${machine}: ${because.join(', ')}`),
      ...changes.map((change) => `    ${change}`),
    ]),
    ...(differences.length > 0 ? ['what differs'] : []),
    ...differences.map((difference) => `  ${difference}`),
    ...(obstacles.length > 0 ? ['what stands against it'] : []),
    ...obstacles.map((obstacle) => `  ${obstacle}`),
  ];
  return `${lines.join('\n')}\n`;
}

export function surveyValue(survey: Survey): JsonObject {
  const { managers, staying, configurations, kinds, inventory, extensions, forecasts, differences, obstacles } = survey;
  return {
    managers: managers.map(({ known, namespace, name, version, replicas, featureGates }) => ({
      provider: known.provider,
      namespace,
      name,
      ...(version !== undefined && { version }),
      replicas,
      featureGates: { ...featureGates },
    })),
    staying: staying.map(({ provider, where }) => ({ provider, where })),
    webhookConfigurations: configurations.map(({ resource, object, stopped }) => ({
      kind: resource.kind,
      name: object.metadata.name ?? '',
      webhooks: stopped.map(({ name }) => name),
    })),
    definitions: kinds.map(({ metadata }) => metadata.name ?? ''),
    inventory: inventory.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    extensions: extensions.map(({ metadata }) => metadata.name ?? ''),
    clusters: asJson(forecasts),
    machinesRolled: forecasts.reduce((sum, { rolled }) => sum + rolled.length, 0),
    differences: [...differences],
    obstacles: [...obstacles],
  };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
