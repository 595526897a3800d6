import {
  type DataStore,
  Deployments,
  Services,
  type TenantControlPlane,
  type TenantControlPlanePhase,
  type TenantControlPlaneStatus,
  withLeadingV,
} from '../../../../api/index.ts';
import { type CredentialName, type PlaneSpec, takesWriteLimits } from '../../../../hosting/index.ts';
import { formatLabelSelectorObject } from '../../../../machinery/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import { setVerdict, type Verdict, versionAcceptedCondition } from '../../../shared/index.ts';
import { availability, putCondition } from '../../plane-conditions.ts';
import { type PlaneReport, type PlaneStage, planeStages } from '../../plane-driver/index.ts';
import type { Tenancy } from '../data-store/tenancy.ts';

/** Condition types of Capstan, one per stage. */
const stageConditions: Readonly<Record<PlaneStage, string>> = {
  version: versionAcceptedCondition,
  certificates: 'CertificatesAvailable',
  exposure: 'Exposed',
  endpoint: 'EndpointPublished',
  routes: 'RoutesAvailable',
  etcd: 'EtcdAvailable',
  restore: 'Restored',
  workloads: 'WorkloadsAvailable',
  kubeconfig: 'KubeconfigAvailable',
  functional: 'Functional',
  inCluster: 'AddonsAvailable',
  cloudCredentials: 'CloudCredentialsAvailable',
  arguments: 'ArgumentsAccepted',
  rotation: 'RotationSettled',
  backup: 'BackupSucceeded',
};

export const dataStoreCondition = 'DataStoreReady';
export const readyCondition = 'Ready';

export interface Observation {
  readonly context: ReconcileContext;
  readonly desired: PlaneSpec;
  readonly report: PlaneReport;
  readonly store: DataStore;
  readonly tenancy: Tenancy;
}

/** Writes the report of a plane to the status of its TenantControlPlane. */
export function observeTenant(draft: TenantControlPlane, observation: Observation): void {
  const { context, report, desired, store, tenancy } = observation;
  const { endpoint } = report;
  const { naming, identity } = desired;
  const phase = phaseOf(draft, observation);
  const running = report.runningVersion ?? draft.status?.kubernetesResources?.version?.version;
  const status: TenantControlPlaneStatus = {
    ...draft.status,
    ...(endpoint && { controlPlaneEndpoint: `${endpoint.host}:${endpoint.port}` }),
    kubernetesResources: {
      ...draft.status?.kubernetesResources,
      version: { status: phase, ...(running !== undefined && { version: withLeadingV(running) }) },
      ...deploymentStatus(observation),
      ...serviceStatus(observation),
      ...(desired.exposure.ingress && { ingress: { name: naming.ingress, namespace: identity.namespace } }),
    },
    storage: {
      driver: store.spec.driver,
      dataStoreName: store.metadata.name ?? '',
      ...(store.spec.driver !== 'etcd' && { config: { secretName: secretOf(desired, 'datastore-config') } }),
      setup: { ...draft.status?.storage?.setup, schema: tenancy.schema, user: tenancy.user },
      ...(store.spec.driver === 'etcd' && { certificate: { secretName: secretOf(desired, 'datastore-client') } }),
    },
    certificates: secrets(desired, {
      ca: 'ca',
      apiServer: 'apiserver',
      apiServerKubeletClient: 'apiserver-kubelet-client',
      frontProxyCA: 'front-proxy-ca',
      frontProxyClient: 'front-proxy-client',
      sa: 'sa',
    }),
    kubeconfig: endpoint
      ? secrets(desired, {
          admin: 'admin-kubeconfig',
          controllerManager: 'controller-manager-kubeconfig',
          scheduler: 'scheduler-kubeconfig',
        })
      : {},
    kubeadmconfig: { configmapName: naming.configs.kubeadm },
    addons: {
      coreDNS: { enabled: desired.addons.coreDns !== undefined },
      kubeProxy: { enabled: desired.addons.kubeProxy !== undefined },
      konnectivity: { enabled: desired.konnectivity !== undefined },
    },
    ...(report.isSettled && { observedGeneration: draft.metadata.generation ?? 0 }),
  };
  draft.status = status;
  showStages(draft, report, context.clock.now());
}

/** Reports a spec that cannot be applied yet; existing objects stay unchanged. */
export function refuseTenant(draft: TenantControlPlane, type: string, verdict: Verdict, nowMs: number): void {
  const { version } = draft.status?.kubernetesResources?.version ?? {};
  const phase: TenantControlPlanePhase = version === undefined ? 'Provisioning' : 'NotReady';
  draft.status = {
    ...draft.status,
    kubernetesResources: {
      ...draft.status?.kubernetesResources,
      version: { status: phase, ...(version !== undefined && { version }) },
    },
  };
  setVerdict(draft, type, verdict, nowMs);
  setVerdict(draft, readyCondition, { ...verdict, status: 'False' }, nowMs);
}

function showStages(draft: TenantControlPlane, report: PlaneReport, nowMs: number): void {
  for (const stage of planeStages) {
    putCondition(draft, stageConditions[stage], report.stages.get(stage), nowMs);
  }
  const available = availability(report, { reason: 'Waiting' });
  const ready = available.status === 'True' ? { ...available, reason: 'Ready' } : available;
  setVerdict(draft, readyCondition, ready, nowMs);
}

/** Derives the phase as Kamaji does. */
function phaseOf(draft: TenantControlPlane, { desired, report }: Observation): TenantControlPlanePhase {
  const known = draft.status?.kubernetesResources?.version?.version;
  if (desired.replicas === 0) return 'Sleeping';
  if (known === undefined && !report.isFunctional) return 'Provisioning';
  if (report.counts.ready === 0 || !report.isFunctional) return 'NotReady';
  if (isWriteLimited(desired)) return 'WriteLimited';
  if (report.rotations.some((step) => step.startsWith('ca:'))) return 'CertificateAuthorityRotating';
  const running = report.runningVersion;
  return running !== undefined && withLeadingV(running) !== desired.version ? 'Upgrading' : 'Ready';
}

function isWriteLimited({ writeLimits, version }: PlaneSpec): boolean {
  return takesWriteLimits(version) && Object.values(writeLimits ?? {}).includes(true);
}

const secretOf = ({ naming }: PlaneSpec, name: CredentialName | 'datastore-config'): string =>
  naming.secrets[name]?.name ?? '';

function secrets<K extends string>(
  desired: PlaneSpec,
  names: Readonly<Record<K, CredentialName>>,
): { [key in K]?: { secretName: string } } {
  const result: { [key in K]?: { secretName: string } } = {};
  for (const key in names) result[key] = { secretName: secretOf(desired, names[key]) };
  return result;
}

type Resources = NonNullable<TenantControlPlaneStatus['kubernetesResources']>;

function deploymentStatus({ context, desired }: Observation): Pick<Resources, 'deployment'> {
  const { namespace } = desired.identity;
  const name = desired.naming.controlPlane;
  const deployment = context.cache.lister(Deployments).get({ namespace, name });
  if (!deployment) return {};
  const { replicas, updatedReplicas, readyReplicas, availableReplicas, unavailableReplicas, observedGeneration } =
    deployment.status ?? {};
  return {
    deployment: {
      name,
      namespace,
      selector: formatLabelSelectorObject(deployment.spec.selector),
      ...(replicas !== undefined && { replicas }),
      ...(updatedReplicas !== undefined && { updatedReplicas }),
      ...(readyReplicas !== undefined && { readyReplicas }),
      ...(availableReplicas !== undefined && { availableReplicas }),
      ...(unavailableReplicas !== undefined && { unavailableReplicas }),
      ...(observedGeneration !== undefined && { observedGeneration }),
    },
  };
}

function serviceStatus({ context, desired }: Observation): Pick<Resources, 'service'> {
  const { namespace } = desired.identity;
  const name = desired.naming.apiService;
  const service = context.cache.lister(Services).get({ namespace, name });
  if (!service) return {};
  const ingress = service.status?.loadBalancer?.ingress;
  return {
    service: { name, namespace, port: desired.exposure.apiPort, ...(ingress && { loadBalancer: { ingress } }) },
  };
}
