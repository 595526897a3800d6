import {
  type BootstrapFile,
  Machines,
  RKE2Configs,
  type RKE2ServerConfig,
  restoresAnnotation,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { done, type Result } from '../../../runtime/index.ts';
import {
  type ClusterCertificates,
  cachedSecret,
  certificateFiles,
  requireClusterCertificates,
  rke2CertificatePlans,
} from '../../shared/index.ts';
import { certificatesAvailable, dataSecretWaiting } from '../common/config-status.ts';
import type { DataSecretAccess } from '../common/data-secret.ts';
import { initOrJoin, waitingForControlPlane } from '../common/init-or-join.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { readConfigMap, readReferenced, type SecretValues } from '../common/secret-values.ts';
import { storeUserData } from '../common/store-user-data.ts';
import { refuseUnknownProfile } from './commands.ts';
import { joinAddress, servingPlane } from './control-plane.ts';
import { configFile, encryptionFile, manifestFiles, referencedFiles } from './files.ts';
import { ensureJoinToken, requireJoinToken } from './join-token.ts';
import { agentReferences, serverReferences } from './references.ts';
import { registryFiles } from './registries.ts';
import { type RenderedRKE2, renderRKE2 } from './render.ts';
import type { RKE2ConfigScope, ServingPlane } from './scope.ts';
import { agentSettings, type SettingsInput, serverSettings } from './settings.ts';

export const dataSecretAccess = ({ config, context }: RKE2ConfigScope): DataSecretAccess => ({
  client: context.client,
  config,
  resource: RKE2Configs,
  cached: (key) => cachedSecret(context.cache, key),
  signal: context.signal,
});

/** Generates the user data of a machine once all its inputs are known. */
export async function makeUserData(scope: RKE2ConfigScope): Promise<Result> {
  const plane = await servingPlane(scope);
  if (!plane) {
    dataSecretWaiting(scope, 'Waiting for the RKE2ControlPlane of the Cluster to exist', waitingForControlPlane);
    return done();
  }
  const snapshot = snapshotOf(scope);
  if (snapshot !== undefined) return await init(scope, plane, snapshot);
  return initOrJoin(scope, { init: () => init(scope, plane), join: () => join(scope, plane) });
}

/** Returns the snapshot that the machine starts from: the machine is then the only server of the cluster. */
function snapshotOf({ config, context, owner }: RKE2ConfigScope): string | undefined {
  const key = { namespace: config.metadata.namespace ?? '', name: owner.name };
  return context.cache.lister(Machines).get(key)?.metadata.annotations?.[restoresAnnotation];
}

async function init(scope: RKE2ConfigScope, plane: ServingPlane, snapshot?: string): Promise<Result> {
  const certificates = await authorities(scope, plane);
  // a snapshot contains keys that are encrypted with the token of its cluster
  const token = snapshot === undefined ? await ensureJoinToken(scope) : await requireJoinToken(scope);
  await storeUserData(
    scope,
    RKE2Configs,
    await render(scope, plane, { token, certificates, ...(snapshot !== undefined && { snapshot }) }),
  );
  return done();
}

async function join(scope: RKE2ConfigScope, plane: ServingPlane): Promise<Result> {
  const server = joinAddress(scope, plane);
  if (server === undefined) {
    const message =
      (plane.spec.registrationMethod || 'control-plane-endpoint') === 'control-plane-endpoint'
        ? 'Waiting for Cluster spec.controlPlaneEndpoint to be set'
        : 'Waiting for RKE2ControlPlane status.availableServerIPs: no server can be registered with yet';
    dataSecretWaiting(scope, message, waitingForControlPlane);
    return done();
  }
  // not written to the machine: a joining server receives the CAs from the server it joins
  await authorities(scope, plane);
  await storeUserData(
    scope,
    RKE2Configs,
    await render(scope, plane, { token: await requireJoinToken(scope), join: server }),
  );
  return done();
}

async function authorities(scope: RKE2ConfigScope, { spec }: ServingPlane): Promise<ClusterCertificates> {
  const { context, cluster, config } = scope;
  const etcd = spec.serverConfig?.externalDatastoreSecret === undefined;
  const certificates = await requireClusterCertificates({
    client: context.client,
    cluster: objectKey(cluster),
    plans: rke2CertificatePlans(config.spec?.agentConfig?.dataDir, { etcd }),
    signal: context.signal,
  });
  certificatesAvailable(scope);
  return certificates;
}

interface Joining {
  token: string;
  /** absent for the machine that initializes the cluster */
  join?: string;
  /** only for the machine that initializes the cluster */
  certificates?: ClusterCertificates;
  /** only for a machine that starts from a snapshot */
  snapshot?: string;
}

async function render(scope: RKE2ConfigScope, plane: ServingPlane, joining: Joining): Promise<RenderedRKE2> {
  const { cluster, config, context, owner } = scope;
  const spec = config.spec ?? {};
  const agent = spec.agentConfig ?? {};
  const server: RKE2ServerConfig = plane.spec.serverConfig ?? {};
  const version = owner.kubernetesVersion ?? plane.spec.version;
  requireRelease(version);
  refuseUnknownProfile(version, agent);
  const values: SecretValues = {
    client: context.client,
    namespace: config.metadata.namespace ?? '',
    signal: context.signal,
  };
  const references = {
    ...(await agentReferences(values, spec, server)),
    ...(owner.isControlPlane && (await serverReferences(values, server))),
  };
  const input: SettingsInput = {
    spec,
    server,
    cluster,
    machineName: owner.name,
    token: joining.token,
    ...(joining.join !== undefined && { join: joining.join }),
    references,
  };
  const files: BootstrapFile[] = [
    ...(await userFiles(scope, values)),
    ...referencedFiles(references, agent),
    ...(await registryFiles(values, spec.privateRegistriesConfig)),
    ...(joining.certificates ? certificateFiles(joining.certificates) : []),
    ...(joining.certificates ? encryptionFile(server, references.encryptionKey, agent) : []),
    ...(owner.isControlPlane ? await manifests(values, plane, scope) : []),
    configFile(owner.isControlPlane ? serverSettings(input) : agentSettings(input)),
  ];
  const role = owner.isControlPlane ? 'server' : 'agent';
  const { snapshot } = joining;
  return renderRKE2({ role, version, spec, files, ...(snapshot !== undefined && { snapshot }) });
}

const releasePattern = /\+rke2r\d+$/;

function requireRelease(version: string): void {
  if (releasePattern.test(version)) return;
  throw new BootstrapInputError(
    `spec.version of the Machine is "${version}", which is no release of rke2; write one such as v1.34.2+rke2r1`,
  );
}

async function userFiles({ config }: RKE2ConfigScope, values: SecretValues): Promise<BootstrapFile[]> {
  const files: BootstrapFile[] = [];
  for (const { contentFrom, content = '', ...file } of config.spec?.files ?? []) {
    const { secret, configMap } = contentFrom ?? {};
    const reference = {
      ...(secret && { secretRef: { name: secret.name, key: secret.key } }),
      ...(configMap && { configMapRef: { name: configMap.name, key: configMap.key } }),
    };
    const text = contentFrom ? await readReferenced(values, reference, `spec.files ${file.path}`) : content;
    files.push({ ...file, content: text });
  }
  return files;
}

async function manifests(values: SecretValues, plane: ServingPlane, scope: RKE2ConfigScope): Promise<BootstrapFile[]> {
  const name = plane.spec.manifestsConfigMapReference?.name;
  if (!name) return [];
  const entries = await readConfigMap(values, name, 'RKE2ControlPlane spec.manifestsConfigMapReference');
  return manifestFiles(entries, scope.config.spec?.agentConfig ?? {});
}
