import { createHmac, timingSafeEqual } from 'node:crypto';
import { ConfigMaps } from '../../../../api/index.ts';
import { errorMessage, isNotFound } from '../../../../machinery/index.ts';
import { caCertHash, splitCertificates } from '../../../../pki/index.ts';
import { type KubeconfigFacts, readKubeconfig, serverAddress } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import { connectTo, reachApi } from '../connect.ts';
import type { Discovery, JoinSettings } from './documents.ts';
import { KubeadmFailure } from './failure.ts';

/** Verified facts about the cluster that a machine joins. */
export interface DiscoveredCluster {
  /** https://host:port */
  readonly server: string;
  readonly certificateAuthority: string;
  /** credentials to request a kubelet certificate */
  readonly bootstrap: KubeconfigFacts;
}

const retryMs = 5_000;
const infoKey = { namespace: 'kube-public', name: 'cluster-info' };

/** A transient error. kubeadm retries until its timeout. */
class NotYet extends Error {}

/** Discovers the API server and its CA from the join configuration. */
export async function discover(machine: RunningMachine, settings: JoinSettings): Promise<DiscoveredCluster> {
  const { discovery } = settings;
  if (discovery.type === 'file') return fromFile(machine, discovery);
  const deadline = machine.clock.now() + settings.discoveryTimeoutMs;
  for (;;) {
    try {
      return await fromToken(machine, discovery);
    } catch (error) {
      if (error instanceof KubeadmFailure) throw error;
      if (machine.clock.now() + retryMs > deadline) {
        throw new KubeadmFailure(
          'preflight',
          `couldn't validate the identity of the API Server: ${errorMessage(error)}`,
        );
      }
    }
    await machine.pass(retryMs);
  }
}

async function fromToken(
  machine: RunningMachine,
  discovery: Extract<Discovery, { type: 'token' }>,
): Promise<DiscoveredCluster> {
  const { host, port } = serverAddress(discovery.endpoint);
  const url = `https://${discovery.endpoint}/api/v1/namespaces/kube-public/configmaps/cluster-info?timeout=10s`;
  const read = async (certificateAuthority: string | undefined): Promise<Record<string, string>> => {
    try {
      const { api } = reachApi(machine, host, port);
      const client = connectTo(api, { certificateAuthority, serverName: host });
      return (await client.get(ConfigMaps, infoKey)).data ?? {};
    } catch (error) {
      if (isNotFound(error))
        throw new NotYet('failed to request the cluster-info ConfigMap: configmaps "cluster-info" not found');
      throw new NotYet(`failed to request the cluster-info ConfigMap: Get "${url}": ${errorMessage(error)}`);
    }
  };
  const untrusted = await read(undefined);
  const kubeconfig = untrusted['kubeconfig'] ?? '';
  checkSignature(untrusted, kubeconfig, discovery.token);
  const facts = readKubeconfig(completed(kubeconfig), machine.disk);
  const certificateAuthority = facts?.certificateAuthority;
  if (!facts || certificateAuthority === undefined) {
    throw new NotYet("couldn't parse the kubeconfig file in the cluster-info ConfigMap");
  }
  if (!discovery.isUnsafe) checkPins(certificateAuthority, discovery.caCertHashes);
  const trusted = await read(certificateAuthority);
  if (trusted['kubeconfig'] !== kubeconfig) {
    throw new NotYet(
      'the second kubeconfig from the cluster-info ConfigMap (using validated TLS) was different from the first',
    );
  }
  // Like kubeadm, nodes use the server named in cluster-info. The discovery endpoint is only the fallback.
  const server = facts.server === '' ? `https://${discovery.endpoint}` : facts.server;
  return {
    server,
    certificateAuthority,
    bootstrap: {
      server,
      certificateAuthority,
      user: 'tls-bootstrap-token-user',
      token: discovery.tlsBootstrapToken,
    },
  };
}

function fromFile(machine: RunningMachine, discovery: Extract<Discovery, { type: 'file' }>): DiscoveredCluster {
  const text = machine.disk.read(discovery.path);
  const facts = text === undefined ? undefined : readKubeconfig(text, machine.disk);
  if (!facts) {
    throw new KubeadmFailure(
      'preflight',
      text === undefined
        ? `couldn't validate the identity of the API Server: open ${discovery.path}: no such file or directory`
        : `couldn't validate the identity of the API Server: couldn't load kubeconfig ${discovery.path}`,
    );
  }
  if (facts.certificateAuthority === undefined) {
    throw new KubeadmFailure(
      'preflight',
      "couldn't validate the identity of the API Server: the discovery file has no certificate authority",
    );
  }
  const { tlsBootstrapToken } = discovery;
  return {
    server: facts.server,
    certificateAuthority: facts.certificateAuthority,
    bootstrap: tlsBootstrapToken === undefined ? facts : { ...facts, token: tlsBootstrapToken },
  };
}

/** Verifies that the author of cluster-info knew the token: HMAC over the content, as a detached JWS. */
function checkSignature(data: Readonly<Record<string, string>>, content: string, token: string): void {
  const [id = '', secret = ''] = token.split('.');
  const signature = data[`jws-kubeconfig-${id}`];
  if (signature === undefined || signature === '') {
    throw new NotYet(`could not find a JWS signature in the cluster-info ConfigMap for token ID "${id}"`);
  }
  const [header = '', , proof = ''] = signature.split('.');
  const payload = Buffer.from(content).toString('base64url');
  const expected = createHmac('sha256', secret).update(`${header}.${payload}`).digest();
  const given = Buffer.from(proof, 'base64url');
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new NotYet("failed to verify JWS signature of received cluster info object, can't trust this API Server");
}

function checkPins(certificateAuthority: string, pins: readonly string[]): void {
  const hashes = splitCertificates(certificateAuthority).map(caCertHash);
  if (hashes.some((hash) => pins.includes(hash))) return;
  throw new NotYet(
    `cluster CA found in cluster-info ConfigMap is invalid: none of the public keys "${hashes.join(' ')}" are pinned`,
  );
}

/** cluster-info has no context, which the kubeconfig parser requires. */
function completed(kubeconfig: string): string {
  return kubeconfig.replace(/contexts: null/, 'contexts: []');
}
