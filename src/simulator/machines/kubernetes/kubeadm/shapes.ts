import { isJsonObject, type JsonValue } from '../../../../machinery/index.ts';

/**
 * Expected type of a field. `args` depends on the API version: a map until v1beta3, a list of pairs from v1beta4 on.
 */
export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  | 'strings'
  | 'map'
  | 'args'
  | 'objects'
  | 'any'
  | { readonly [field: string]: Shape };

const taints: Shape = 'objects';
const nodeRegistration: Shape = {
  name: 'string',
  criSocket: 'string',
  taints,
  kubeletExtraArgs: 'args',
  ignorePreflightErrors: 'strings',
  imagePullPolicy: 'string',
  imagePullSerial: 'boolean',
};
const localAPIEndpoint: Shape = { advertiseAddress: 'string', bindPort: 'number' };
const timeouts: Shape = {
  controlPlaneComponentHealthCheck: 'string',
  kubeletHealthCheck: 'string',
  kubernetesAPICall: 'string',
  etcdAPICall: 'string',
  tlsBootstrap: 'string',
  discovery: 'string',
  upgradeManifests: 'string',
};
const component: Shape = { extraArgs: 'args', extraVolumes: 'objects', extraEnvs: 'objects' };
const image: Shape = { imageRepository: 'string', imageTag: 'string' };
const typeMeta = { apiVersion: 'string', kind: 'string' } as const;

export const shapes: Readonly<Record<string, Shape>> = {
  InitConfiguration: {
    ...typeMeta,
    bootstrapTokens: 'objects',
    dryRun: 'boolean',
    nodeRegistration,
    localAPIEndpoint,
    certificateKey: 'string',
    skipPhases: 'strings',
    patches: { directory: 'string' },
    timeouts,
  },
  ClusterConfiguration: {
    ...typeMeta,
    etcd: {
      local: {
        ...image,
        dataDir: 'string',
        extraArgs: 'args',
        extraEnvs: 'objects',
        serverCertSANs: 'strings',
        peerCertSANs: 'strings',
      },
      external: {
        endpoints: 'strings',
        caFile: 'string',
        certFile: 'string',
        keyFile: 'string',
        httpEndpoints: 'strings',
      },
    },
    networking: { serviceSubnet: 'string', podSubnet: 'string', dnsDomain: 'string' },
    kubernetesVersion: 'string',
    controlPlaneEndpoint: 'string',
    apiServer: { ...component, certSANs: 'strings', timeoutForControlPlane: 'string' },
    controllerManager: component,
    scheduler: component,
    dns: { ...image, type: 'string', disabled: 'boolean' },
    proxy: { disabled: 'boolean' },
    certificatesDir: 'string',
    imageRepository: 'string',
    useHyperKubeImage: 'boolean',
    featureGates: 'map',
    clusterName: 'string',
    encryptionAlgorithm: 'string',
    certificateValidityPeriod: 'string',
    caCertificateValidityPeriod: 'string',
  },
  JoinConfiguration: {
    ...typeMeta,
    dryRun: 'boolean',
    nodeRegistration,
    caCertPath: 'string',
    discovery: {
      bootstrapToken: {
        token: 'string',
        apiServerEndpoint: 'string',
        caCertHashes: 'strings',
        unsafeSkipCAVerification: 'boolean',
      },
      file: { kubeConfigPath: 'string' },
      tlsBootstrapToken: 'string',
      timeout: 'string',
    },
    controlPlane: { localAPIEndpoint, certificateKey: 'string' },
    skipPhases: 'strings',
    patches: { directory: 'string' },
    timeouts,
  },
};

export interface ShapeFindings {
  /** paths of unknown fields, for which kubeadm prints warnings */
  unknown: string[];
  /** first value of a wrong type, which makes kubeadm fail */
  wrong: string | undefined;
}

/** Validates a document like the decoder of this API version. */
export function checkShape(document: JsonValue, kind: string, isListFormat: boolean): ShapeFindings {
  const findings: ShapeFindings = { unknown: [], wrong: undefined };
  visit(document, shapes[kind] ?? 'any', { kind, path: '', isListFormat }, findings);
  return findings;
}

const goTypes: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'int32',
  boolean: 'bool',
  strings: '[]string',
  map: 'map[string]string',
  objects: '[]v1.Object',
};

function visit(
  value: JsonValue,
  shape: Shape,
  { kind, path, isListFormat }: { kind: string; path: string; isListFormat: boolean },
  findings: ShapeFindings,
): void {
  if (value === null || shape === 'any' || findings.wrong !== undefined) return;
  if (typeof shape === 'string') {
    if (fits(value, shape, isListFormat)) return;
    const expected = shape === 'args' ? (isListFormat ? '[]v1beta4.Arg' : 'map[string]string') : goTypes[shape];
    findings.wrong = `json: cannot unmarshal ${jsonType(value)} into Go struct field ${kind}.${path} of type ${expected}`;
    return;
  }
  if (!isJsonObject(value)) {
    findings.wrong = `json: cannot unmarshal ${jsonType(value)} into Go ${path === '' ? 'value' : `struct field ${kind}.${path}`} of type ${kind}`;
    return;
  }
  for (const [field, content] of Object.entries(value)) {
    const inner = path === '' ? field : `${path}.${field}`;
    const known = Object.hasOwn(shape, field) ? shape[field] : undefined;
    if (known === undefined) findings.unknown.push(inner);
    else if (content !== undefined) visit(content, known, { kind, path: inner, isListFormat }, findings);
  }
}

function fits(value: JsonValue, shape: Exclude<Shape, object>, isListFormat: boolean): boolean {
  switch (shape) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === shape;
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'objects':
      return Array.isArray(value) && value.every(isJsonObject);
    case 'map':
      return isJsonObject(value);
    case 'args':
      return isListFormat
        ? Array.isArray(value) && value.every(isJsonObject)
        : isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string');
    default:
      return true;
  }
}

function jsonType(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
