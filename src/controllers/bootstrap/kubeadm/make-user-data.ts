import { Clusters, KubeadmConfigs } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { after, done, type Result } from '../../../runtime/index.ts';
import {
  type CertificateAccess,
  type CertificatePlan,
  type ClusterCertificates,
  cachedSecret,
  controlPlaneCertificatePlans,
  ensureClusterCertificates,
  introduceToken,
  kubeadmTokenPurpose,
  ownerReference,
  requireClusterCertificates,
  textAt,
  tokenCheckMs,
  workerCertificatePlans,
} from '../../shared/index.ts';
import { certificatesAvailable, dataSecretWaiting } from '../common/config-status.ts';
import type { FileTemplateData } from '../common/file-template.ts';
import { initOrJoin } from '../common/init-or-join.ts';
import { resolveFiles, resolveUsers } from '../common/secret-values.ts';
import { storeUserData } from '../common/store-user-data.ts';
import { requireToken } from './bootstrap-token.ts';
import { recordDiscovery } from './discovery.ts';
import { type RenderInput, renderControlPlaneJoin, renderInit, renderWorkerJoin, requireVersion } from './render.ts';
import { type KubeadmConfigScope, specOf } from './scope.ts';

/** Generates the user data of a machine once all its inputs are known. */
export function makeUserData(scope: KubeadmConfigScope): Promise<Result> {
  return initOrJoin(scope, { init: () => init(scope), join: () => join(scope) });
}

async function init(scope: KubeadmConfigScope): Promise<Result> {
  const { cluster, config, context, owner } = scope;
  const kubernetesVersion = requireVersion(owner);
  const access = certificateAccess(scope, controlPlaneCertificatePlans(specOf(config).clusterConfiguration));
  const certificates = cluster.spec.controlPlaneRef
    ? await requireClusterCertificates(access)
    : await ensureClusterCertificates({
        ...access,
        clock: context.clock,
        // owned by the cluster, not the configuration: the cluster keys must outlive the first machine
        owner: ownerReference(cluster, Clusters, { controller: true }),
      });
  certificatesAvailable(scope);
  await storeUserData(scope, KubeadmConfigs, renderInit(await renderInput(scope, kubernetesVersion, certificates)));
  return done();
}

async function join(scope: KubeadmConfigScope): Promise<Result> {
  const { owner, cluster, context, dependencies, tokenTtlMs } = scope;
  const { clusterConfiguration, joinConfiguration } = specOf(scope.config);
  const kubernetesVersion = requireVersion(owner);
  const plans = owner.isControlPlane
    ? controlPlaneCertificatePlans(clusterConfiguration)
    : workerCertificatePlans(joinConfiguration?.caCertPath);
  const certificates = await requireClusterCertificates(certificateAccess(scope, plans));
  certificatesAvailable(scope);
  const discovery = await recordDiscovery(scope, certificates);
  if (!discovery) {
    dataSecretWaiting(
      scope,
      'Waiting for Cluster spec.controlPlaneEndpoint to be set',
      'WaitingForControlPlaneAvailable',
    );
    return done();
  }
  const token = discovery.file ? undefined : discovery.bootstrapToken?.token;
  if (token !== undefined) {
    const client = dependencies.workloads.client(objectKey(cluster));
    const { clock, signal } = context;
    const access = { client, nowMs: clock.now(), ttlMs: tokenTtlMs, purpose: kubeadmTokenPurpose, signal };
    await introduceToken(access, requireToken(token));
    dependencies.tokenChecks.note(scope.config.metadata.uid ?? '', token, clock.now());
  }
  const input = await renderInput(scope, kubernetesVersion, certificates);
  await storeUserData(
    scope,
    KubeadmConfigs,
    owner.isControlPlane ? renderControlPlaneJoin(input) : renderWorkerJoin(input),
  );
  return token === undefined ? done() : after(tokenCheckMs(tokenTtlMs), 'life of the bootstrap token');
}

function certificateAccess(scope: KubeadmConfigScope, plans: readonly CertificatePlan[]): CertificateAccess {
  const { client, cache, signal } = scope.context;
  return { client, cluster: objectKey(scope.cluster), plans, cached: (key) => cachedSecret(cache, key), signal };
}

async function renderInput(
  scope: KubeadmConfigScope,
  kubernetesVersion: string,
  certificates: ClusterCertificates,
): Promise<RenderInput> {
  const { context, cluster, config } = scope;
  const values = { client: context.client, namespace: config.metadata.namespace ?? '', signal: context.signal };
  const spec = specOf(config);
  return {
    cluster,
    kubernetesVersion,
    spec,
    certificates,
    files: await resolveFiles(values, spec.files, () => templateData(scope)),
    users: await resolveUsers(values, spec.users),
  };
}

async function templateData({ cluster, context, follower }: KubeadmConfigScope): Promise<FileTemplateData> {
  const reference = cluster.spec.controlPlaneRef;
  if (!reference) return {};
  const { client, signal } = context;
  const found = await follower.get(reference, cluster.metadata.namespace ?? '', { client, signal });
  const version = found && textAt(found.object, 'spec', 'version');
  return version ? { controlPlane: { version: version.startsWith('v') ? version : `v${version}` } } : {};
}
