import {
  checkDns1123Subdomain,
  checkWildcardDns1123Subdomain,
  type FieldError,
  fieldError,
  ipFamily,
  isAbsolutePath,
} from '../../machinery/index.ts';
import type {
  KubeadmBootstrapToken,
  KubeadmClusterConfiguration,
  KubeadmConfigSpec,
  KubeadmDiscovery,
  KubeadmLocalApiEndpoint,
  KubeadmNodeRegistration,
} from './types.ts';

// Refuses early what kubeadm would refuse on the machine, minutes later and without feedback to the user. Only values
// that are wrong on every machine are refused: values may contain expressions that are filled in on the machine.

const tokenPattern = /^[a-z0-9]{6}\.[a-z0-9]{16}$/;
const tokenGroupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const hashPattern = /^sha256:[0-9A-Fa-f]{64}$/;
const tokenUsages: readonly string[] = ['signing', 'authentication'];
const taintEffects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
/** Tokens are secrets and must not appear in error messages. */
const hidden = '******';

/** Tells whether cloud-init templates or a shell fill in the value on the machine. */
const isExpression = (value: string): boolean => value.includes('{{') || value.includes('$');

type Check = (value: string) => string | undefined;

const absolutePath: Check = (value) => (isAbsolutePath(value) ? undefined : 'must be an absolute path');
const address: Check = (value) => (ipFamily(value) === undefined ? 'must be a valid IP address' : undefined);
const certificateName: Check = (value) =>
  ipFamily(value) !== undefined ||
  checkDns1123Subdomain(value).length === 0 ||
  checkWildcardDns1123Subdomain(value).length === 0
    ? undefined
    : 'must be an IP address, a DNS name or a DNS name with a wildcard';
const httpsUrl: Check = (value) =>
  URL.canParse(value) && value.startsWith('https://') ? undefined : 'must be a URL with the scheme https';
const authorityHash: Check = (value) =>
  hashPattern.test(value) ? undefined : 'must be sha256: followed by 64 hexadecimal digits';

function check(value: string | undefined, path: string, problemOf: Check): FieldError[] {
  if (value === undefined || isExpression(value)) return [];
  const problem = problemOf(value);
  return problem === undefined ? [] : [fieldError.invalid(path, value, problem)];
}

const checkAll = (values: readonly string[] | undefined, path: string, problemOf: Check): FieldError[] =>
  (values ?? []).flatMap((value, i) => check(value, `${path}[${i}]`, problemOf));

export function validateForKubeadm(spec: KubeadmConfigSpec, path: string): FieldError[] {
  const { clusterConfiguration, initConfiguration: init, joinConfiguration: join } = spec;
  return [
    ...validateClusterConfiguration(clusterConfiguration, `${path}.clusterConfiguration`),
    ...(init?.bootstrapTokens ?? []).flatMap((token, i) =>
      validateToken(token, `${path}.initConfiguration.bootstrapTokens[${i}]`),
    ),
    ...validateEndpoint(init?.localAPIEndpoint, `${path}.initConfiguration.localAPIEndpoint`),
    ...validateRegistration(init?.nodeRegistration, `${path}.initConfiguration.nodeRegistration`),
    ...check(join?.caCertPath, `${path}.joinConfiguration.caCertPath`, absolutePath),
    ...validateDiscovery(join?.discovery, `${path}.joinConfiguration.discovery`),
    ...validateEndpoint(
      join?.controlPlane?.localAPIEndpoint,
      `${path}.joinConfiguration.controlPlane.localAPIEndpoint`,
    ),
    ...validateRegistration(join?.nodeRegistration, `${path}.joinConfiguration.nodeRegistration`),
  ];
}

function validateClusterConfiguration(cluster: KubeadmClusterConfiguration | undefined, path: string): FieldError[] {
  const { local, external } = cluster?.etcd ?? {};
  return [
    ...check(cluster?.certificatesDir, `${path}.certificatesDir`, absolutePath),
    ...checkAll(cluster?.apiServer?.certSANs, `${path}.apiServer.certSANs`, certificateName),
    ...check(local?.dataDir, `${path}.etcd.local.dataDir`, absolutePath),
    ...checkAll(local?.serverCertSANs, `${path}.etcd.local.serverCertSANs`, certificateName),
    ...checkAll(local?.peerCertSANs, `${path}.etcd.local.peerCertSANs`, certificateName),
    ...checkAll(external?.endpoints, `${path}.etcd.external.endpoints`, httpsUrl),
    ...(['caFile', 'certFile', 'keyFile'] as const).flatMap((name) =>
      check(external?.[name], `${path}.etcd.external.${name}`, absolutePath),
    ),
  ];
}

function validateToken(token: KubeadmBootstrapToken, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (token.token !== undefined && !isExpression(token.token) && !tokenPattern.test(token.token)) {
    errors.push(fieldError.invalid(`${path}.token`, hidden, `must match ${tokenPattern.source}`));
  }
  if (token.ttlSeconds !== undefined && token.expires !== undefined) {
    errors.push(fieldError.invalid(`${path}.expires`, token.expires, 'cannot be set together with ttlSeconds'));
  }
  token.usages?.forEach((usage, i) => {
    if (!tokenUsages.includes(usage)) {
      errors.push(fieldError.notSupported(`${path}.usages[${i}]`, usage, tokenUsages));
    }
  });
  token.groups?.forEach((group, i) => {
    if (!tokenGroupPattern.test(group)) {
      errors.push(fieldError.invalid(`${path}.groups[${i}]`, group, `must match ${tokenGroupPattern.source}`));
    }
  });
  return errors;
}

function validateEndpoint(endpoint: KubeadmLocalApiEndpoint | undefined, path: string): FieldError[] {
  const errors = check(endpoint?.advertiseAddress, `${path}.advertiseAddress`, address);
  if (endpoint?.bindPort !== undefined && endpoint.bindPort > 65535) {
    errors.push(fieldError.invalid(`${path}.bindPort`, endpoint.bindPort, 'must be between 1 and 65535, inclusive'));
  }
  return errors;
}

function validateRegistration(registration: KubeadmNodeRegistration | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  registration?.taints?.forEach(({ effect }, i) => {
    if (!taintEffects.includes(effect)) {
      errors.push(fieldError.notSupported(`${path}.taints[${i}].effect`, effect, taintEffects));
    }
  });
  const ignored = registration?.ignorePreflightErrors ?? [];
  if (ignored.length > 1 && ignored.some((name) => name.toLowerCase() === 'all')) {
    const problem = "don't specify individual checks if 'all' is used";
    errors.push(fieldError.invalid(`${path}.ignorePreflightErrors`, ignored, problem));
  }
  return errors;
}

function validateDiscovery(discovery: KubeadmDiscovery | undefined, path: string): FieldError[] {
  if (discovery === undefined) return [];
  const { bootstrapToken, file, tlsBootstrapToken } = discovery;
  const errors: FieldError[] = [];
  if (bootstrapToken !== undefined && file !== undefined) {
    errors.push(fieldError.forbidden(path, 'bootstrapToken and file cannot both be set'));
  }
  const user = file?.kubeConfig?.user;
  if (user?.authProvider !== undefined && user.exec !== undefined) {
    const problem = 'only one of authProvider or exec must be defined';
    errors.push(fieldError.invalid(`${path}.file.kubeConfig.user`, Object.keys(user), problem));
  }
  const tokens = { 'bootstrapToken.token': bootstrapToken?.token, tlsBootstrapToken };
  for (const [name, token] of Object.entries(tokens)) {
    if (token !== undefined && !isExpression(token) && !tokenPattern.test(token)) {
      errors.push(fieldError.invalid(`${path}.${name}`, hidden, `must match ${tokenPattern.source}`));
    }
  }
  errors.push(...checkAll(bootstrapToken?.caCertHashes, `${path}.bootstrapToken.caCertHashes`, authorityHash));
  return errors;
}
