import { createHmac } from 'node:crypto';
import { type ConfigMap, ConfigMaps, Secrets } from '../../api/index.ts';
import { deepEqual, ignoreNotFound, must } from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchMapped, watchObjects } from '../../runtime/index.ts';
import { type SigningToken, signingTokenOf, tokenScope } from './token-secret.ts';

const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' };
const scope = { namespace: clusterInfo.namespace, fieldSelector: `metadata.name=${clusterInfo.name}` } as const;
const signaturePrefix = 'jws-kubeconfig-';
const fieldManager = 'bootstrap-signer-controller';

/**
 * Signs the public `cluster-info` ConfigMap with every bootstrap token enabled for signing. A node that joins with a
 * token can verify that the address and CA come from someone who knows that token.
 */
export function clusterInfoSigner(): ControllerDefinition {
  return defineController({
    name: 'bootstrap-signer',
    for: ConfigMaps,
    watches: [
      watchObjects(ConfigMaps, { scope, predicates: [({ type }) => type !== 'delete'] }),
      watchMapped(Secrets, () => [clusterInfo], { scope: tokenScope }),
    ],
    async reconcile({ client, cache, clock, signal }, key) {
      const info = cache.lister(ConfigMaps, scope).get(key);
      const content = info?.data?.['kubeconfig'];
      if (!info || content === undefined) return done();
      const secrets = cache.lister(Secrets, tokenScope).list();
      const tokens = secrets.flatMap((secret) => signingTokenOf(secret, clock.now()) ?? []);
      const data = withSignatures(must(info.data, 'info.data'), content, tokens);
      if (deepEqual(data, info.data)) return done();
      const signed: ConfigMap = { ...info, data };
      await client.update(ConfigMaps, signed, { fieldManager, signal }).catch(ignoreNotFound);
      return done();
    },
  });
}

function withSignatures(
  data: Record<string, string>,
  content: string,
  tokens: readonly SigningToken[],
): Record<string, string> {
  const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix));
  return {
    ...Object.fromEntries(others),
    ...Object.fromEntries(tokens.map((token) => [signaturePrefix + token.id, detachedSignature(content, token)])),
  };
}

/** Returns a JSON web signature without the content it signs (RFC 7515, appendix F). */
export function detachedSignature(content: string, { id, secret }: SigningToken): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url');
  return `${header}..${signature}`;
}
