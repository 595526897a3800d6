import { parse } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machinery/index.ts';
import { ProgramFailure } from '../failure.ts';

/** The relevant parts of a k0s configuration. */
export interface K0sConfig {
  /** the whole configuration as written */
  readonly document: JsonObject;
  readonly api: {
    readonly port: number;
    readonly sans: readonly string[];
    readonly externalAddress: string | undefined;
    readonly extraArgs: Readonly<Record<string, string>>;
  };
  readonly storage: K0sStorage;
  readonly konnectivityPort: number;
  readonly network: K0sNetwork;
  readonly helm: HelmExtensions;
}

export type K0sStorage =
  | {
      readonly kind: 'external-etcd';
      readonly endpoints: readonly string[];
      readonly prefix: string;
      readonly caFile: string;
      readonly certificateFile: string;
      readonly keyFile: string;
    }
  | { readonly kind: 'kine'; readonly source: string }
  | { readonly kind: 'own-etcd' };

export interface K0sNetwork {
  readonly provider: string;
  readonly podCidr: string;
  readonly serviceCidr: string;
  readonly clusterDomain: string;
  readonly hasKubeProxy: boolean;
}

export interface HelmExtensions {
  /** names of repositories */
  readonly repositories: ReadonlySet<string>;
  /** in installation order */
  readonly charts: readonly HelmChart[];
}

export interface HelmChart {
  readonly name: string;
  readonly chartName: string;
  readonly version: string;
  readonly namespace: string;
  /** YAML text */
  readonly values: string;
  readonly order: number;
  readonly timeout: string;
  readonly forceUpgrade: boolean;
}

const apiVersion = 'k0s.k0sproject.io/v1beta1';
const defaults = {
  podCidr: '10.244.0.0/16',
  serviceCidr: '10.96.0.0/12',
  clusterDomain: 'cluster.local',
  provider: 'kuberouter',
} as const;
const providers: ReadonlySet<string> = new Set(['kuberouter', 'calico', 'custom']);

/** Throws k0s's errors for an invalid configuration. */
export function parseK0sConfig(text: string): K0sConfig {
  let document: JsonValue;
  try {
    document = parse(text) as JsonValue;
  } catch (error) {
    throw refused(`error converting YAML to JSON: yaml: ${error instanceof Error ? error.message : 'damaged'}`);
  }
  if (!isJsonObject(document)) throw refused('the document is no object');
  if (document['apiVersion'] !== apiVersion) {
    throw refused(`unsupported apiVersion: ${JSON.stringify(document['apiVersion'])}, use ${apiVersion}`);
  }
  return k0sConfigOf(document);
}

export function k0sConfigOf(document: JsonObject): K0sConfig {
  const spec = objectAt(document, 'spec');
  const api = objectAt(spec, 'api');
  const network = objectAt(spec, 'network');
  const provider = textAt(network, 'provider') || defaults.provider;
  if (!providers.has(provider)) {
    throw refused(
      `spec: network: provider: Unsupported value: "${provider}": supported values: "kuberouter", "calico", "custom"`,
    );
  }
  const port = Number(api['port'] ?? 6443);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw refused(`spec: api: port: Invalid value: ${port}`);
  return {
    document,
    api: {
      port,
      sans: textsAt(api, 'sans'),
      externalAddress: textAt(api, 'externalAddress') || undefined,
      extraArgs: Object.fromEntries(
        Object.entries(objectAt(api, 'extraArgs')).map(([key, value]) => [key, String(value)]),
      ),
    },
    storage: storageOf(objectAt(spec, 'storage')),
    konnectivityPort: Number(objectAt(spec, 'konnectivity')['agentPort'] ?? 8132),
    network: {
      provider,
      podCidr: textAt(network, 'podCIDR') || defaults.podCidr,
      serviceCidr: textAt(network, 'serviceCIDR') || defaults.serviceCidr,
      clusterDomain: textAt(network, 'clusterDomain') || defaults.clusterDomain,
      hasKubeProxy: objectAt(network, 'kubeProxy')['disabled'] !== true,
    },
    helm: helmOf(objectAt(objectAt(spec, 'extensions'), 'helm')),
  };
}

function storageOf(storage: JsonObject): K0sStorage {
  const type = textAt(storage, 'type') || 'etcd';
  if (type === 'kine') return { kind: 'kine', source: textAt(objectAt(storage, 'kine'), 'dataSource') };
  if (type !== 'etcd')
    throw refused(`spec: storage: type: Unsupported value: "${type}": supported values: "etcd", "kine"`);
  const external = objectAt(objectAt(storage, 'etcd'), 'externalCluster');
  const endpoints = textsAt(external, 'endpoints');
  if (endpoints.length === 0) return { kind: 'own-etcd' };
  const prefix = textAt(external, 'etcdPrefix').replace(/^\/+|\/+$/g, '');
  return {
    kind: 'external-etcd',
    endpoints,
    prefix: `/${prefix === '' ? 'registry' : prefix}`,
    caFile: textAt(external, 'caFile'),
    certificateFile: textAt(external, 'clientCertFile'),
    keyFile: textAt(external, 'clientKeyFile'),
  };
}

function helmOf(helm: JsonObject): HelmExtensions {
  const repositories = objectsAt(helm, 'repositories').map((repository) => textAt(repository, 'name'));
  const charts = objectsAt(helm, 'charts').map((chart, index) => {
    const name = textAt(chart, 'name');
    const chartName = textAt(chart, 'chartname');
    for (const [field, value] of Object.entries({
      name,
      chartname: chartName,
      namespace: textAt(chart, 'namespace'),
    })) {
      if (value === '') throw refused(`spec: extensions: helm: charts[${index}]: ${field}: Required value`);
    }
    return {
      name,
      chartName,
      version: textAt(chart, 'version'),
      namespace: textAt(chart, 'namespace'),
      values: textAt(chart, 'values'),
      order: Number(chart['order'] ?? 0),
      timeout: String(chart['timeout'] ?? '10m0s'),
      forceUpgrade: chart['forceUpgrade'] !== false,
    };
  });
  return {
    repositories: new Set(repositories),
    charts: charts.sort((left, right) => left.order - right.order || (left.name < right.name ? -1 : 1)),
  };
}

export function objectAt(holder: JsonObject, key: string): JsonObject {
  const value = holder[key];
  return isJsonObject(value) ? value : {};
}

function objectsAt(holder: JsonObject, key: string): JsonObject[] {
  const value = holder[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textAt(holder: JsonObject, key: string): string {
  const value = holder[key];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function textsAt(holder: JsonObject, key: string): string[] {
  const value = holder[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function refused(reason: string): ProgramFailure {
  return new ProgramFailure(`Error: failed to load config: ${reason}`);
}
