import { createHash } from 'node:crypto';
import type { KubeconfigGenerator, Secret, TenantControlPlane } from '../../../../api/index.ts';
import { parseKubeconfig } from '../../../../client/index.ts';
import { kamajiNaming } from '../../../../hosting/index.ts';
import type { Clock } from '../../../../machinery/index.ts';
import { type CertificateAndKey, issueCertificate, parseCertificate } from '../../../../pki/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import { kubeconfigText, readSecret, secretText } from '../../../shared/index.ts';
import { valueFor } from './selection.ts';

const dayMs = 24 * 3_600_000;
const lifeMs = 365 * dayMs;
const renewBeforeMs = 90 * dayMs;
const defaultEndpointKey = 'admin.svc';

export const kubeconfigKey = 'value';
/** annotation of the Secret: checksum of its inputs */
export const checksumAnnotation = 'kamaji.clastix.io/checksum';

/** Inputs of a kubeconfig. */
export interface KubeconfigSpec {
  readonly user: string;
  readonly groups: readonly string[];
  readonly server: string;
  /** PEM */
  readonly trust: string;
  readonly authority: CertificateAndKey;
  readonly cluster: string;
  readonly checksum: string;
}

/** Builds the inputs for one control plane, or returns why that is not possible. */
export async function kubeconfigSpec(
  context: ReconcileContext,
  { spec }: KubeconfigGenerator,
  tenant: TenantControlPlane,
): Promise<KubeconfigSpec | { readonly problem: string }> {
  const user = valueFor(spec.user, tenant);
  if (user === undefined) return { problem: `spec.user: ${reportMissing(spec.user.fromDefinition)}` };
  const groups: string[] = [];
  for (const [index, group] of (spec.groups ?? []).entries()) {
    const value = valueFor(group, tenant);
    if (value === undefined) return { problem: `spec.groups[${index}]: ${reportMissing(group.fromDefinition)}` };
    groups.push(value);
  }
  const { name: cluster = '', namespace = '' } = tenant.metadata;
  const { 'admin-kubeconfig': admin, ca } = kamajiNaming(cluster).secrets;
  const read = (name: string | undefined): Promise<Secret | undefined> =>
    readSecret(context, { namespace, name: name ?? '' });
  const authority = await read(ca?.name);
  const key = spec.controlPlaneEndpointFrom || defaultEndpointKey;
  const endpoint = endpointOf(secretText(await read(admin?.name), key));
  const certificate = secretText(authority, ca?.certificate[0] ?? '');
  const privateKey = secretText(authority, ca?.privateKey[0] ?? '');
  if (!endpoint) return { problem: `Secret ${admin?.name} has no kubeconfig under ${key} yet` };
  if (certificate === undefined || privateKey === undefined)
    return { problem: `Secret ${ca?.name} does not exist yet` };
  const content = { user, groups, ...endpoint, cluster };
  const checksum = createHash('sha256')
    .update(JSON.stringify([content, certificate]))
    .digest('hex')
    .slice(0, 32);
  return { ...content, authority: { certificate, privateKey }, checksum };
}

const reportMissing = (path: string | undefined): string =>
  path ? `the control plane has no value at ${path}` : 'give stringValue or fromDefinition';

function endpointOf(kubeconfig: string | undefined): { server: string; trust: string } | undefined {
  if (kubeconfig === undefined) return undefined;
  const cluster = parseKubeconfig(kubeconfig, 'of the administrator').clusters?.[0]?.cluster;
  const trust = cluster?.['certificate-authority-data'];
  const server = cluster?.server;
  return server && trust ? { server, trust: Buffer.from(trust, 'base64').toString() } : undefined;
}

/** Returns the time at which a kubeconfig must be renewed; undefined means now. */
export function renewalOf(secret: Secret | undefined, desired: KubeconfigSpec): number | undefined {
  if (secret?.metadata.annotations?.[checksumAnnotation] !== desired.checksum) return undefined;
  try {
    const text = secretText(secret, kubeconfigKey) ?? '';
    const data = parseKubeconfig(text, 'of the generator').users?.[0]?.user['client-certificate-data'] ?? '';
    return parseCertificate(Buffer.from(data, 'base64').toString()).notAfter - renewBeforeMs;
  } catch {
    // the content was changed by someone else
    return undefined;
  }
}

export async function makeKubeconfig(desired: KubeconfigSpec, clock: Clock): Promise<string> {
  const { user, groups, server, trust, authority, cluster } = desired;
  const pair = await issueCertificate({
    authority,
    commonName: user,
    organizations: [...groups],
    usages: ['client'],
    clock,
    validityMs: lifeMs,
  });
  return kubeconfigText({ server, trust, pair, cluster, user, context: `${user}@${cluster}` });
}
