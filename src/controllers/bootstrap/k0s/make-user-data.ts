import { type BootstrapFile, K0sWorkerConfigs, type Secret } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { after, done, type Result } from '../../../runtime/index.ts';
import {
  type BootstrapToken,
  cachedSecret,
  endpointUrl,
  formatToken,
  isTrue,
  k0sTokenPurposes,
  keepTokenAlive,
  newToken,
  parseToken,
  requireClusterCertificates,
  secretText,
  type TokenAccess,
  tokenCheckMs,
  workerCertificatePlans,
} from '../../shared/index.ts';
import { type DataSecretAccess, findDataSecret, writeDataSecret } from '../common/data-secret.ts';
import { readReferenced, type SecretValues } from '../common/secret-values.ts';
import { userDataSizeProblem } from '../common/user-data-size.ts';
import { workerVersion } from './commands.ts';
import { readControlPlane, readIngressFiles, refuseNewerThanControlPlane } from './control-plane.ts';
import { type RenderedWorker, renderWorker } from './render.ts';
import type { K0sWorkerConfigScope } from './scope.ts';
import { dataSecretAvailable, dataSecretWaiting } from './status.ts';

const componentLabel = 'app.kubernetes.io/component';
/** key of the data Secret that holds the plain token; the user data holds it compressed */
const tokenKey = 'token';

/** key of the CA Secret with all trusted certificates during a CA rotation */
const bundleKey = 'ca-bundle.crt';

export const dataSecretAccess = ({ config, context }: K0sWorkerConfigScope): DataSecretAccess => ({
  client: context.client,
  config,
  resource: K0sWorkerConfigs,
  cached: (key) => cachedSecret(context.cache, key),
  signal: context.signal,
});

/** Returns the join token in a data Secret; undefined if Capstan did not write it. */
export function tokenOf(secret: Secret | undefined): BootstrapToken | undefined {
  const text = secretText(secret, tokenKey);
  return text === undefined ? undefined : parseToken(text);
}

export function tokenAccess({ context, cluster, dependencies, tokenTtlMs }: K0sWorkerConfigScope): TokenAccess {
  return {
    client: dependencies.workloads.client(objectKey(cluster)),
    nowMs: context.clock.now(),
    ttlMs: tokenTtlMs,
    purpose: k0sTokenPurposes.worker,
    signal: context.signal,
  };
}

/** Generates the user data of a machine once all its inputs are known. */
export async function makeUserData(
  scope: K0sWorkerConfigScope,
  options: { freshToken: boolean } = { freshToken: false },
): Promise<Result> {
  const { cluster, context, owner, config } = scope;
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  if (!host || !port) {
    dataSecretWaiting(scope, 'Waiting for Cluster spec.controlPlaneEndpoint to be set');
    return done();
  }
  if (!isTrue(cluster, 'ControlPlaneInitialized')) {
    dataSecretWaiting(scope, 'Waiting for Cluster control plane to be initialized');
    return done();
  }
  // without access to the workload API there is no token, so no user data is made
  const access = tokenAccess(scope);
  const controlPlane = await readControlPlane(scope);
  const version = workerVersion(config.spec, owner.kubernetesVersion);
  refuseNewerThanControlPlane(version, controlPlane.version);
  const authority = await clusterAuthority(scope);
  const recorded = options.freshToken ? undefined : tokenOf(await findDataSecret(dataSecretAccess(scope)));
  const token = recorded ?? newToken(context.random);
  const customUserData = await readCustomUserData(scope);
  const rendered = renderWorker({
    spec: config.spec,
    machineName: owner.name,
    version,
    token,
    server: endpointUrl(controlPlane.ingress ?? { host, port }),
    authority,
    files: await readFiles(scope),
    ...(controlPlane.ingress && { ingressFiles: await readIngressFiles(scope, authority) }),
    ...(customUserData !== undefined && { customUserData }),
  });
  // the Secret records the token first; no machine boots with it before the status names it
  const name = await store(scope, rendered, token);
  await keepTokenAlive(access, token);
  dataSecretAvailable(scope, name);
  return after(tokenCheckMs(scope.tokenTtlMs), 'life of the join token');
}

async function clusterAuthority({ cluster, context }: K0sWorkerConfigScope): Promise<string> {
  const certificates = await requireClusterCertificates({
    client: context.client,
    cluster: objectKey(cluster),
    plans: workerCertificatePlans(undefined),
    signal: context.signal,
  });
  const authority = certificates.get('ca');
  return secretText(authority?.secret, bundleKey) ?? authority?.certificate ?? '';
}

const references = ({ config, context }: K0sWorkerConfigScope): SecretValues => ({
  client: context.client,
  namespace: config.metadata.namespace ?? '',
  signal: context.signal,
});

async function readFiles(scope: K0sWorkerConfigScope): Promise<BootstrapFile[]> {
  const files: BootstrapFile[] = [];
  for (const { path = '', contentFrom, content = '', permissions } of scope.config.spec.files ?? []) {
    files.push({
      path,
      ...(permissions && { permissions }),
      content: contentFrom ? await readReferenced(references(scope), contentFrom, `spec.files ${path}`) : content,
    });
  }
  return files;
}

async function readCustomUserData(scope: K0sWorkerConfigScope): Promise<string | undefined> {
  const { customUserDataRef } = scope.config.spec.provisioner ?? {};
  if (!customUserDataRef) return undefined;
  return readReferenced(references(scope), customUserDataRef, 'spec.provisioner.customUserDataRef');
}

async function store(
  scope: K0sWorkerConfigScope,
  { text, format, warnings }: RenderedWorker,
  token: BootstrapToken,
): Promise<string> {
  const { context, cluster, config } = scope;
  const { labels, annotations } = config.spec.secretMetadata ?? {};
  const name = await writeDataSecret({
    ...dataSecretAccess(scope),
    clusterName: cluster.metadata.name ?? '',
    userData: text,
    format,
    labels: { [componentLabel]: 'bootstrap', ...labels },
    ...(annotations && { annotations }),
    extra: { [tokenKey]: formatToken(token) },
  });
  const size = userDataSizeProblem(text);
  for (const warning of size === undefined ? warnings : [...warnings, size]) {
    context.events.event(config, 'Warning', 'UserData', warning);
  }
  return name;
}
