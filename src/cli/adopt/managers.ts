import { type Deployment, Deployments, type Provider, Providers } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { type KnownManager, knownManagers, providerLabel } from './known-managers.ts';
import { listed } from './listed.ts';

export interface FoundManager {
  readonly known: KnownManager;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /** version from the image or clusterctl's inventory: `v1.14.2`; undefined if unknown */
  readonly version: string | undefined;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly podLabels: Readonly<Record<string, string>>;
  /** program that would scale it up again, if it is recognizable */
  readonly keptBy: string | undefined;
}

/** A Cluster API provider unknown to Capstan; it keeps running. */
export interface UnknownProvider {
  readonly provider: string;
  readonly where: string;
}

export interface FoundManagers {
  readonly managers: readonly FoundManager[];
  readonly unknown: readonly UnknownProvider[];
}

/** Finds upstream managers in all namespaces by label, image and name, in this order. */
export async function findManagers(client: Client, signal: AbortSignal): Promise<FoundManagers> {
  const inventory = await listed(client, Providers, signal);
  const managers: FoundManager[] = [];
  const unknown: UnknownProvider[] = [];
  for (const deployment of await listed(client, Deployments, signal)) {
    if (isInstalledByUs(deployment)) continue;
    const known = managerOf(deployment);
    const { namespace = '', name = '', labels } = deployment.metadata;
    if (known) managers.push(foundManager(known, deployment, inventory));
    else if (labels?.[providerLabel] !== undefined) {
      unknown.push({ provider: labels[providerLabel], where: `${namespace}/${name}` });
    }
  }
  const byPlace = (a: FoundManager, b: FoundManager): number =>
    `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1;
  return { managers: managers.sort(byPlace), unknown };
}

function managerOf({ metadata, spec }: Deployment): KnownManager | undefined {
  const label = metadata.labels?.[providerLabel];
  const images = (spec.template?.spec?.containers ?? []).map(({ image }) => imageName(image ?? ''));
  return (
    knownManagers.find(({ provider }) => provider === label) ??
    knownManagers.find(({ deployments }) => deployments.includes(metadata.name ?? '')) ??
    knownManagers.find(({ image }) => images.some((name) => image.test(name)))
  );
}

function foundManager(known: KnownManager, deployment: Deployment, inventory: readonly Provider[]): FoundManager {
  const { namespace = '', name = '' } = deployment.metadata;
  const { replicas = 1, template } = deployment.spec;
  const containers = template?.spec?.containers ?? [];
  const tag = containers.map(({ image }) => imageVersion(image ?? '')).find((version) => version !== undefined);
  const entry = inventory.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[providerLabel] === known.provider,
  );
  return {
    known,
    namespace,
    name,
    replicas,
    version: tag ?? entry?.version,
    featureGates: featureGatesOf(containers.flatMap(({ args = [], command = [] }) => [...command, ...args])),
    podLabels: template?.metadata?.labels ?? {},
    keptBy: keeperOf(deployment),
  };
}

function imageName(image: string): string {
  return image.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}

function imageVersion(image: string): string | undefined {
  return /:(v\d+\.\d+\.\d+[^@/]*)(@|$)/.exec(image)?.[1];
}

/** Parses `--feature-gates=A=true,B=false`, in one argument or two. */
function featureGatesOf(words: readonly string[]): Record<string, boolean> {
  const flag = '--feature-gates';
  const texts = words.flatMap((word, index) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    return word === flag ? [words[index + 1] ?? ''] : [];
  });
  const pairs = texts.flatMap((text) => text.split(',')).map((pair) => pair.trim().split('='));
  return Object.fromEntries(pairs.flatMap(([gate = '', value]) => (gate === '' ? [] : [[gate, value === 'true']])));
}

/** Returns the program that manages a Deployment and would restore it. */
function keeperOf({
  metadata: { labels = {}, annotations = {}, ownerReferences = [] },
}: Deployment): string | undefined {
  if (ownerReferences[0]) return `${ownerReferences[0].kind} ${ownerReferences[0].name}`;
  const flux = labels['kustomize.toolkit.fluxcd.io/name'] ?? labels['helm.toolkit.fluxcd.io/name'];
  if (flux !== undefined) return `Flux (${flux})`;
  const argo = annotations['argocd.argoproj.io/tracking-id'] ?? labels['argocd.argoproj.io/instance'];
  if (argo !== undefined) return `Argo CD (${argo})`;
  return undefined;
}
