import { parseAllDocuments } from 'yaml';
import type { Taint } from '../../../../api/index.ts';
import { asTyped, isJsonObject, type JsonObject, type JsonValue, parseDuration } from '../../../../machinery/index.ts';
import { KubeadmFailure } from './failure.ts';
import { checkShape } from './shapes.ts';
import type { KubernetesVersion } from './version.ts';

export type Argument = readonly [name: string, value: string];

export interface NodeRegistration {
  readonly name: string | undefined;
  /** undefined: kubeadm's defaults; an empty list: no taints */
  readonly taints: readonly Taint[] | undefined;
  readonly kubeletExtraArgs: readonly Argument[];
  readonly criSocket: string;
}

export interface BootstrapToken {
  readonly token: string;
  /** undefined: never expires */
  readonly ttlMs: number | undefined;
  readonly usages: readonly string[];
  readonly groups: readonly string[];
  readonly description: string | undefined;
}

export interface ApiEndpoint {
  readonly advertiseAddress: string | undefined;
  readonly bindPort: number;
}

export interface InitSettings {
  readonly bootstrapTokens: readonly BootstrapToken[] | undefined;
  readonly nodeRegistration: NodeRegistration;
  readonly localEndpoint: ApiEndpoint;
  readonly skipPhases: readonly string[];
}

export interface ClusterConfiguration {
  readonly clusterName: string;
  readonly kubernetesVersion: string | undefined;
  readonly controlPlaneEndpoint: string | undefined;
  readonly serviceSubnet: string;
  readonly podSubnet: string | undefined;
  readonly dnsDomain: string;
  readonly certSans: readonly string[];
  readonly apiServerArgs: readonly Argument[];
  readonly controllerManagerArgs: readonly Argument[];
  readonly schedulerArgs: readonly Argument[];
  readonly etcdArgs: readonly Argument[];
  readonly etcdCertSans: readonly string[];
  readonly isExternalEtcd: boolean;
  readonly imageRepository: string;
  readonly dnsImageRepository: string | undefined;
  readonly dnsImageTag: string | undefined;
  readonly etcdImageTag: string | undefined;
  readonly certificatesDir: string;
  /** the document as given */
  readonly document: JsonObject;
}

export type Discovery =
  | {
      readonly type: 'token';
      readonly token: string;
      readonly endpoint: string;
      readonly caCertHashes: readonly string[];
      readonly isUnsafe: boolean;
      readonly tlsBootstrapToken: string;
    }
  | { readonly type: 'file'; readonly path: string; readonly tlsBootstrapToken: string | undefined };

export interface JoinSettings {
  readonly discovery: Discovery;
  readonly nodeRegistration: NodeRegistration;
  /** undefined for a worker */
  readonly controlPlane: ApiEndpoint | undefined;
  readonly skipPhases: readonly string[];
  readonly discoveryTimeoutMs: number;
  readonly tlsBootstrapTimeoutMs: number;
}

export interface Documents {
  readonly init: JsonObject | undefined;
  readonly cluster: JsonObject | undefined;
  readonly join: JsonObject | undefined;
  readonly kubelet: JsonObject | undefined;
  readonly kubeProxy: JsonObject | undefined;
  /** warnings that kubeadm prints before it continues */
  readonly warnings: readonly string[];
}

const group = 'kubeadm.k8s.io';
const oldVersions: Readonly<Record<string, string>> = {
  v1alpha1: 'v1.11',
  v1alpha2: 'v1.12',
  v1alpha3: 'v1.14',
  v1beta1: 'v1.15',
  v1beta2: 'v1.22',
};
/** API versions with the range of kubeadm minor versions that read them */
const readers: Readonly<Record<string, { first: number; last: number }>> = {
  v1beta2: { first: 15, last: 25 },
  v1beta3: { first: 22, last: Number.POSITIVE_INFINITY },
  v1beta4: { first: 31, last: Number.POSITIVE_INFINITY },
};

/** Parses the file of `--config` like the given version of kubeadm. Throws KubeadmFailure with its message. */
export function readDocuments(text: string, kubeadm: KubernetesVersion | undefined): Documents {
  const found = new Map<string, JsonObject>();
  const warnings: string[] = [];
  for (const parsed of parseAllDocuments(text)) {
    const [problem] = parsed.errors;
    if (problem) throw new KubeadmFailure(undefined, `error converting YAML to JSON: yaml: ${problem.message}`);
    const value = parsed.toJS() as JsonValue;
    if (value === null) continue;
    const document = isJsonObject(value) ? value : {};
    const { apiVersion, kind } = document;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string' || apiVersion === '' || kind === '') {
      throw new KubeadmFailure(
        undefined,
        'invalid configuration for GroupVersionKind /, Kind=: kind and apiVersion is mandatory information that must be specified',
      );
    }
    const key = apiVersion.startsWith(`${group}/`) ? kind : (apiVersion.split('/')[0] ?? '');
    if (found.has(key)) {
      throw new KubeadmFailure(undefined, `invalid configuration: kind "${kind}" is specified twice in YAML file`);
    }
    if (apiVersion.startsWith(`${group}/`)) warnings.push(...checkDocument(document, apiVersion, kind, kubeadm));
    found.set(key, document);
  }
  return {
    init: found.get('InitConfiguration'),
    cluster: found.get('ClusterConfiguration'),
    join: found.get('JoinConfiguration'),
    kubelet: found.get('kubelet.config.k8s.io'),
    kubeProxy: found.get('kubeproxy.config.k8s.io'),
    warnings,
  };
}

function checkDocument(
  document: JsonObject,
  apiVersion: string,
  kind: string,
  kubeadm: KubernetesVersion | undefined,
): string[] {
  const version = apiVersion.slice(group.length + 1);
  const reader = readers[version];
  const old = oldVersions[version];
  if (old !== undefined && (!reader || (kubeadm !== undefined && kubeadm.minor > reader.last))) {
    throw new KubeadmFailure(
      undefined,
      `your configuration file uses an old API spec: "${apiVersion}" (kind: "${kind}"). Please use kubeadm ${old} instead and run 'kubeadm config migrate --old-config old-config-file --new-config new-config-file', which will write the new, similar spec using a newer API version.`,
    );
  }
  if (!reader || (kubeadm !== undefined && kubeadm.minor < reader.first)) {
    throw new KubeadmFailure(
      undefined,
      `no kind "${kind}" is registered for version "${apiVersion}" in scheme "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme/scheme.go:28"`,
    );
  }
  const { unknown, wrong } = checkShape(document, kind, version === 'v1beta4');
  if (wrong !== undefined) throw new KubeadmFailure(undefined, `error decoding ${kind}: ${wrong}`);
  const gvk = `schema.GroupVersionKind{Group:"${group}", Version:"${version}", Kind:"${kind}"}`;
  return unknown.map(
    (field) => `error unmarshaling configuration ${gvk}: strict decoding error: unknown field "${field}"`,
  );
}

const text = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
const texts = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** Reads arguments in map or list form, in the order kubeadm passes them on. */
export function readArguments(value: JsonValue | undefined): Argument[] {
  if (Array.isArray(value)) {
    return value.map((item) => {
      const { name, value: content } = objectOf(item);
      return [text(name) ?? '', typeof content === 'string' ? content : ''] as const;
    });
  }
  return Object.entries(objectOf(value))
    .map(([name, content]) => [name, String(content)] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

const tokenPattern = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;
const nodeNamePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const dayMs = 24 * 3_600_000;
const defaultPort = 6443;

function readRegistration(value: JsonValue | undefined): NodeRegistration {
  const registration = objectOf(value);
  const name = text(registration['name'])?.toLowerCase();
  if (name !== undefined && !nodeNamePattern.test(name)) {
    throw new KubeadmFailure(
      undefined,
      `nodeRegistration.name: Invalid value: "${name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
    );
  }
  const { taints } = registration;
  return {
    name,
    taints: Array.isArray(taints) ? asTyped<Taint[]>(taints) : undefined,
    kubeletExtraArgs: readArguments(registration['kubeletExtraArgs']),
    criSocket: text(registration['criSocket']) ?? 'unix:///var/run/containerd/containerd.sock',
  };
}

function readEndpoint(value: JsonValue | undefined): ApiEndpoint {
  const endpoint = objectOf(value);
  const { bindPort } = endpoint;
  const port = typeof bindPort === 'number' && bindPort !== 0 ? bindPort : defaultPort;
  if (port < 1 || port > 65_535) {
    throw new KubeadmFailure(
      undefined,
      `localAPIEndpoint: Invalid value: ${port}: port number is not valid, must be between 1 and 65535`,
    );
  }
  const address = text(endpoint['advertiseAddress']);
  return { advertiseAddress: address === '0.0.0.0' ? undefined : address, bindPort: port };
}

function readToken(value: JsonValue): BootstrapToken {
  const token = objectOf(value);
  const content = text(token['token']) ?? '';
  if (!tokenPattern.test(content)) throw invalidToken(`bootstrapTokens: Invalid value: "${content}"`);
  const ttl = text(token['ttl']);
  const ttlMs = ttl === undefined ? dayMs : parseDuration(ttl);
  const { usages, groups } = token;
  return {
    token: content,
    ttlMs: ttlMs === 0 ? undefined : ttlMs,
    usages: Array.isArray(usages) ? texts(usages) : ['signing', 'authentication'],
    groups: Array.isArray(groups) ? texts(groups) : ['system:bootstrappers:kubeadm:default-node-token'],
    description: text(token['description']),
  };
}

function invalidToken(what: string): KubeadmFailure {
  return new KubeadmFailure(undefined, `${what}: the bootstrap token is invalid`);
}

export function readInit(document: JsonObject | undefined): InitSettings {
  const init = document ?? {};
  const tokens = init['bootstrapTokens'];
  return {
    bootstrapTokens: Array.isArray(tokens) ? tokens.map(readToken) : undefined,
    nodeRegistration: readRegistration(init['nodeRegistration']),
    localEndpoint: readEndpoint(init['localAPIEndpoint']),
    skipPhases: texts(init['skipPhases']),
  };
}

const cidrPattern = /^[0-9a-fA-F.:]+\/\d{1,3}$/;

export function readCluster(document: JsonObject | undefined): ClusterConfiguration {
  const cluster = document ?? {};
  const networking = objectOf(cluster['networking']);
  const apiServer = objectOf(cluster['apiServer']);
  const etcd = objectOf(cluster['etcd']);
  const local = objectOf(etcd['local']);
  const dns = objectOf(cluster['dns']);
  const serviceSubnet = text(networking['serviceSubnet']) ?? '10.96.0.0/12';
  const podSubnet = text(networking['podSubnet']);
  for (const [field, value] of [
    ['serviceSubnet', serviceSubnet],
    ['podSubnet', podSubnet],
  ] as const) {
    const odd = value?.split(',').find((cidr) => !cidrPattern.test(cidr));
    if (odd === undefined) continue;
    throw new KubeadmFailure(
      undefined,
      `networking.${field}: Invalid value: "${value}": couldn't parse subnet: invalid CIDR address: ${odd}`,
    );
  }
  return {
    clusterName: text(cluster['clusterName']) ?? 'kubernetes',
    kubernetesVersion: text(cluster['kubernetesVersion']),
    controlPlaneEndpoint: text(cluster['controlPlaneEndpoint']),
    serviceSubnet,
    podSubnet,
    dnsDomain: text(networking['dnsDomain']) ?? 'cluster.local',
    certSans: texts(apiServer['certSANs']),
    apiServerArgs: readArguments(apiServer['extraArgs']),
    controllerManagerArgs: readArguments(objectOf(cluster['controllerManager'])['extraArgs']),
    schedulerArgs: readArguments(objectOf(cluster['scheduler'])['extraArgs']),
    etcdArgs: readArguments(local['extraArgs']),
    etcdCertSans: texts(local['serverCertSANs']),
    isExternalEtcd: isJsonObject(etcd['external']),
    imageRepository: text(cluster['imageRepository']) ?? 'registry.k8s.io',
    dnsImageRepository: text(dns['imageRepository']),
    dnsImageTag: text(dns['imageTag']),
    etcdImageTag: text(local['imageTag']),
    certificatesDir: text(cluster['certificatesDir']) ?? '/etc/kubernetes/pki',
    document: cluster,
  };
}

const fiveMinutes = 5 * 60_000;

export function readJoin(document: JsonObject): JoinSettings {
  const timeouts = objectOf(document['timeouts']);
  const discovery = objectOf(document['discovery']);
  const controlPlane = document['controlPlane'];
  const limit = (value: JsonValue | undefined): number => parseDuration(text(value) ?? '') ?? fiveMinutes;
  return {
    discovery: readDiscovery(discovery),
    nodeRegistration: readRegistration(document['nodeRegistration']),
    controlPlane: isJsonObject(controlPlane) ? readEndpoint(controlPlane['localAPIEndpoint']) : undefined,
    skipPhases: texts(document['skipPhases']),
    discoveryTimeoutMs: limit(timeouts['discovery'] ?? discovery['timeout']),
    tlsBootstrapTimeoutMs: limit(timeouts['tlsBootstrap']),
  };
}

function readDiscovery(discovery: JsonObject): Discovery {
  const tlsBootstrapToken = text(discovery['tlsBootstrapToken']);
  const file = discovery['file'];
  const byToken = discovery['bootstrapToken'];
  if (!isJsonObject(file) === !isJsonObject(byToken)) {
    throw new KubeadmFailure(
      undefined,
      isJsonObject(file)
        ? 'discovery: Invalid value: "": bootstrapToken and file cannot both be set'
        : 'discovery: Invalid value: "": bootstrapToken or file must be set',
    );
  }
  if (isJsonObject(file)) return { type: 'file', path: text(file['kubeConfigPath']) ?? '', tlsBootstrapToken };
  const settings = objectOf(byToken);
  const token = text(settings['token']) ?? '';
  if (!tokenPattern.test(token)) throw invalidToken(`discovery.bootstrapToken.token: Invalid value: "${token}"`);
  const endpoint = text(settings['apiServerEndpoint']) ?? '';
  if (endpoint === '') {
    throw new KubeadmFailure(
      undefined,
      'discovery.bootstrapToken.apiServerEndpoint: Invalid value: "": apiServerEndpoint is not set',
    );
  }
  const caCertHashes = texts(settings['caCertHashes']);
  const isUnsafe = settings['unsafeSkipCAVerification'] === true;
  if (caCertHashes.length === 0 && !isUnsafe) {
    throw new KubeadmFailure(
      undefined,
      'discovery.bootstrapToken.caCertHashes: Invalid value: "": using token-based discovery without caCertHashes can be unsafe. Set unsafeSkipCAVerification as true in your kubeadm config file or pass --discovery-token-unsafe-skip-ca-verification flag to continue',
    );
  }
  return { type: 'token', token, endpoint, caCertHashes, isUnsafe, tlsBootstrapToken: tlsBootstrapToken ?? token };
}
