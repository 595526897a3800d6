import { aggregateText } from '../../../machinery/index.ts';
import { type CertificateAndKey, decodePem, isMatchingPair, publicKeyOf } from '../../../pki/index.ts';
import type { ClusterSettings } from '../../cluster/settings.ts';
import type { SimulatedProcess } from '../../process.ts';
import type { EtcdCredentials } from '../etcd/way.ts';
import { ProgramFailure } from '../failure.ts';
import { type Flags, flagValue, isSwitchedOn, listValue, parseFlags } from '../flags.ts';
import { kubernetesVersionOf } from '../image.ts';
import { apiServerFlagLives, ofRelease } from '../releases.ts';
import { followedPair, requiredFile } from '../running.ts';
import { apiServerFlags, fileFlags } from './flags.ts';

/** Settings of one API server. */
export interface ApiServerSettings {
  readonly cluster: ClusterSettings;
  readonly serving: Readonly<CertificateAndKey>;
  readonly port: number;
  readonly etcdServers: readonly string[];
  readonly etcdPrefix: string;
  readonly etcdCredentials: EtcdCredentials;
}

const authorizationModes: ReadonlySet<string> = new Set([
  'Node',
  'RBAC',
  'AlwaysAllow',
  'AlwaysDeny',
  'ABAC',
  'Webhook',
]);

/** Parses the command line and reads files. Throws kube-apiserver's errors. */
export function apiServerSettings(process: SimulatedProcess): ApiServerSettings {
  const { argv } = process;
  const known = ofRelease(apiServerFlags, apiServerFlagLives, kubernetesVersionOf(process.image));
  const { flags, words } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), known);
  if (words.length > 0) throw new ProgramFailure(`Error: unknown command "${words[0]}" for "kube-apiserver"`);
  checkRequired(flags);
  const problem = (reason: string): ProgramFailure => new ProgramFailure(`Error: ${reason}`);
  const read = (name: string): string | undefined => {
    const path = flagValue(flags, name);
    return path === undefined || path === '' ? undefined : requiredFile(process, path, problem);
  };
  for (const name of fileFlags) read(name);
  const certificate = read('tls-cert-file');
  const privateKey = read('tls-private-key-file');
  if (certificate === undefined || privateKey === undefined) {
    throw problem(
      'error creating self-signed certificates: mkdir /var/run/kubernetes: read-only file system; give --tls-cert-file and --tls-private-key-file',
    );
  }
  if (!isMatchingPair(certificate, privateKey)) throw problem('tls: private key does not match public key');
  const modes = listValue(flags, 'authorization-mode');
  const unknownMode = modes.find((mode) => !authorizationModes.has(mode));
  if (unknownMode !== undefined) {
    throw problem(`authorization-mode: Unsupported value: "${unknownMode}"`);
  }
  const hasConfiguration = flagValue(flags, 'authorization-config') !== undefined;
  const plugins = new Set(listValue(flags, 'enable-admission-plugins'));
  const certificateAuthority = read('client-ca-file');
  const paths = {
    certificate: flagValue(flags, 'tls-cert-file') ?? '',
    privateKey: flagValue(flags, 'tls-private-key-file') ?? '',
  };
  return {
    serving: followedPair(process, paths, { certificate, privateKey }),
    port: Number(flagValue(flags, 'secure-port') ?? 6443),
    etcdServers: listValue(flags, 'etcd-servers'),
    etcdPrefix: prefixOf(flagValue(flags, 'etcd-prefix')),
    etcdCredentials: {
      authorities: read('etcd-cafile'),
      certificate: read('etcd-certfile'),
      key: read('etcd-keyfile'),
    },
    cluster: {
      clientAuthorities: certificateAuthority ?? '',
      ...serviceAccountKeys(process, flags, problem),
      kubernetesVersion: kubernetesVersionOf(process.image) ?? 'v1.34.0',
      serviceCidr: ipv4Range(flagValue(flags, 'service-cluster-ip-range')),
      serviceAccountIssuer: flags.get('service-account-issuer')?.[0] ?? '',
      authorization: modes.includes('RBAC') || hasConfiguration ? 'RBAC' : 'AlwaysAllow',
      nodeAuthorization: modes.includes('Node') || hasConfiguration,
      nodeRestriction: plugins.has('NodeRestriction'),
      anonymous: isSwitchedOn(flags, 'anonymous-auth', { otherwise: true }),
      bootstrapTokens: isSwitchedOn(flags, 'enable-bootstrap-token-auth'),
    },
  };
}

function checkRequired(flags: Flags): void {
  const problems: string[] = [];
  if (listValue(flags, 'etcd-servers').length === 0) problems.push('--etcd-servers must be specified');
  if (!flagValue(flags, 'service-account-issuer')) problems.push('service-account-issuer is a required flag');
  if (!flagValue(flags, 'service-account-signing-key-file')) {
    problems.push('--service-account-signing-key-file and --service-account-issuer are required flags');
  }
  if (problems.length === 0) return;
  throw new ProgramFailure(`Error: ${aggregateText(problems)}`);
}

function serviceAccountKeys(
  process: SimulatedProcess,
  flags: Flags,
  problem: (reason: string) => ProgramFailure,
): { serviceAccountKey: string; olderServiceAccountKeys?: string[] } {
  const signing = requiredFile(process, flagValue(flags, 'service-account-signing-key-file') ?? '', problem);
  const files = flags.get('service-account-key-file') ?? [];
  const own = publicPart(signing, problem);
  const others = files
    .flatMap((path) => keysIn(requiredFile(process, path, problem), problem))
    .filter((key) => key !== own);
  const unique = [...new Set(others)];
  return { serviceAccountKey: signing, ...(unique.length > 0 && { olderServiceAccountKeys: unique }) };
}

/** Returns all public keys of a file, also those of private keys and certificates. */
function keysIn(text: string, problem: (reason: string) => ProgramFailure): string[] {
  const blocks = decodePem(text);
  if (blocks.length === 0) throw problem('data does not contain any valid RSA or ECDSA public keys');
  const parts = text.match(/-----BEGIN [^-]+-----[\s\S]+?-----END [^-]+-----/g) ?? [];
  return parts.map((part) => publicPart(`${part}\n`, problem));
}

function publicPart(pem: string, problem: (reason: string) => ProgramFailure): string {
  try {
    return publicKeyOf(pem);
  } catch {
    throw problem('failed to parse service-account-issuer-key-file: data does not contain a valid RSA or ECDSA key');
  }
}

/** Normalizes the etcd prefix; kube-apiserver adds the slash itself. */
function prefixOf(given: string | undefined): string {
  const name = (given ?? '').replace(/^\/+|\/+$/g, '');
  return `/${name === '' ? 'registry' : name}`;
}

/** The API assigns only IPv4 addresses. For an IPv6 range the default is used. */
export function ipv4Range(range: string | undefined): string {
  return range?.split(',').find((cidr) => /^\d+\.\d+\.\d+\.\d+\/\d+$/.test(cidr)) ?? '10.0.0.0/24';
}
