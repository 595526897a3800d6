import { type HostedAuditTarget, HostedControlPlanes } from '../../../api/index.ts';
import {
  type AuditTarget,
  auditRelayConfig,
  auditRelayKey,
  auditRelayUrl,
  auditTargetProblem,
  hostedNaming,
  type SpecProblem,
} from '../../../hosting/index.ts';
import { formatYaml } from '../../../machinery/index.ts';
import { mayRefer, missingGrant, ownerReference, readSecret, referrer, secretTarget } from '../../shared/index.ts';
import { secretDrafts } from '../plane-driver/secret-drafts.ts';
import { auditWebhookSecretName } from './names.ts';
import type { HostedScope } from './scope.ts';

/**
 * Reconciles the Secret with the audit webhook configuration of API servers. Returns the problem, undefined on success.
 */
export async function reconcileAuditWebhook(scope: HostedScope): Promise<SpecProblem | undefined> {
  const { context, controlPlane, clusterName } = scope;
  const targets: AuditTarget[] = [];
  for (const target of controlPlane.spec.deployment?.apiServer?.audit?.webhook?.targets ?? []) {
    const token = await tokenOf(scope, target);
    if (typeof token === 'object') return token;
    targets.push({ server: target.server, ...(token !== undefined && { token }) });
  }
  const [first, ...others] = targets;
  if (!first) return undefined;
  const problem = others.length > 0 && targets.map(auditTargetProblem).find((text) => text !== undefined);
  if (problem) {
    const message = `spec.deployment.apiServer.audit.webhook.targets: ${problem}`;
    return { reason: 'AuditTargetRefused', message };
  }
  const { namespace = '' } = controlPlane.metadata;
  const naming = hostedNaming(clusterName);
  const drafts = secretDrafts({
    client: context.client,
    namespace,
    owner: ownerReference(controlPlane, HostedControlPlanes, { controller: true }),
    fieldManager: naming.fieldManager,
    read: (key) => readSecret(context, key),
    signal: context.signal,
  });
  const hasRelay = others.length > 0;
  const data = {
    kubeconfig: hasRelay ? kubeconfigOf(auditRelayUrl, undefined) : kubeconfigOf(first.server, first.token),
    [auditRelayKey]: hasRelay ? auditRelayConfig([first, ...others]) : undefined,
  };
  drafts.put(auditWebhookSecretName(clusterName), { labels: naming.labels('control-plane'), data });
  await drafts.flush();
  return undefined;
}

/** Returns the bearer token; undefined if the target needs none. */
async function tokenOf(
  { context, controlPlane }: HostedScope,
  { authentication }: HostedAuditTarget,
): Promise<string | undefined | SpecProblem> {
  if (!authentication) return undefined;
  const { secretName, secretNamespace, tokenKey = 'token' } = authentication;
  const namespace = secretNamespace || (controlPlane.metadata.namespace ?? '');
  const reference = { from: referrer(controlPlane), to: secretTarget(namespace, secretName) };
  if (!(await mayRefer(context.client, reference, context.signal))) {
    return { reason: 'ReferenceNotGranted', message: `the token of an audit target: ${missingGrant(reference)}` };
  }
  const key = { namespace, name: secretName };
  const secret = await readSecret(context, key);
  const value = secret?.data?.[tokenKey];
  if (value !== undefined) return Buffer.from(value, 'base64').toString('utf8').trim();
  return {
    reason: 'AuditTokenMissing',
    message: `Secret ${namespace}/${secretName} with the key ${tokenKey} does not exist; the audit log is sent with the token in it`,
  };
}

function kubeconfigOf(server: string, token: string | undefined): string {
  return formatYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'audit', cluster: { server } }],
    users: [{ name: 'audit', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'audit', context: { cluster: 'audit', user: 'audit' } }],
    'current-context': 'audit',
  });
}
