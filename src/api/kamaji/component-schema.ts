import { templateMetadata } from '../cluster/common-schema.ts';
import type { TemplateMetadata } from '../cluster/types.ts';
import type { ResourceRequirements, SecurityContext, Toleration } from '../core/pod-types.ts';
import { coreType } from '../kind/core-type.ts';
import {
  anyValue,
  boolean,
  type Field,
  int32,
  intOrString,
  list,
  object,
  once,
  oneOf,
  setOf,
  string,
} from '../kind/schema.ts';
import type {
  AdditionalServicePort,
  DataStoreOverride,
  DeploymentStrategyValue,
  ImageOverride,
  KamajiKubelet,
  KonnectivitySpec,
  ProbeNumbers,
  ProbeSet,
  ServiceKind,
} from './types.ts';

// Schemas that TenantControlPlane and KamajiControlPlane share.

export const additionalMetadata = (what: string): Field<TemplateMetadata> =>
  templateMetadata().describe(`Additional labels and annotations of ${what}.`);

export const resources = (what: string): Field<ResourceRequirements> =>
  coreType<ResourceRequirements>('ResourceRequirements', `Resources of ${what}.`);

export const extraArgs = (what: string): Field<string[]> => list(string(), `Additional arguments of ${what}.`);

export const imageOverride: Record<keyof ImageOverride, Field<string>> = {
  imageRepository: string('Repository of the image.'),
  imageTag: string('Tag of the image.'),
};

const probeNumbers = (what: string): Field<ProbeNumbers> =>
  object(
    {
      failureThreshold: int32('Failures in a row that count.', { minimum: 1 }),
      initialDelaySeconds: int32('Seconds before the first probe.', { minimum: 0 }),
      periodSeconds: int32('Seconds between two probes.', { minimum: 1 }),
      successThreshold: int32('Successes in a row that count.', { minimum: 1 }),
      timeoutSeconds: int32('Seconds a probe may take.', { minimum: 1 }),
    },
    `Settings of the ${what} probe.`,
  );

export const probeFields: () => Record<keyof ProbeSet, Field<ProbeNumbers>> = once(() => ({
  liveness: probeNumbers('liveness'),
  readiness: probeNumbers('readiness'),
  startup: probeNumbers('startup'),
}));

export const probeSet = (what: string): Field<ProbeSet> => object(probeFields(), `Probes of ${what}.`);

export const strategy = (): Field<DeploymentStrategyValue> =>
  object(
    {
      rollingUpdate: object(
        {
          maxSurge: intOrString('Pods that may exist above the desired number.'),
          maxUnavailable: intOrString('Pods that may be missing.'),
        },
        'Limits of a step by step replacement.',
      ),
      type: string('RollingUpdate or Recreate.'),
    },
    'How pods are replaced.',
  );

export const serviceType = (): Field<ServiceKind> =>
  oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], 'How the control plane is reached.');

export const additionalPorts = (): Field<AdditionalServicePort[]> =>
  list(
    object({
      appProtocol: string('Protocol of the application.'),
      name: string('Name of the port.').required(),
      port: int32('Port of the Service.').required(),
      protocol: oneOf(['TCP', 'UDP', 'SCTP'], 'Protocol of the port.').default('TCP'),
      targetPort: intOrString('Port of the pods.').required(),
    }),
    'Additional ports of the Service.',
  );

export const dataStoreOverrides = (): Field<DataStoreOverride[]> =>
  list(
    object({ dataStore: string('The DataStore.'), resource: string('The resource, e.g. /events.') }),
    'Resources that are kept in another DataStore.',
  );

export const dataStoreUsername = (): Field<string> =>
  string('User the control plane has in the DataStore; cannot change.').rule(
    'self == oldSelf',
    'changing the dataStoreUsername is not supported',
  );

const addressTypes = ['Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS'] as const;
export const preferredAddresses = ['InternalIP', 'ExternalIP', 'Hostname'] as const;

export const kubelet: () => Field<KamajiKubelet> = once(() =>
  object(
    {
      cgroupfs: oneOf(['systemd', 'cgroupfs'], 'cgroup driver; use a patch instead.'),
      configurationJSONPatches: list(
        object({
          from: string('Source of move and copy.'),
          op: oneOf(['add', 'remove', 'replace', 'move', 'copy', 'test'], 'Operation.').required(),
          path: string('JSON pointer to the field.').required(),
          value: anyValue('The value for add, replace and test.'),
        }),
        'JSON patches (RFC 6902) for the configuration of kubelets.',
      ),
      preferredAddressTypes: setOf(
        oneOf(addressTypes),
        'Addresses that the API server uses for kubelets, the preferred one first.',
        { minItems: 1 },
      ).default([...preferredAddresses]),
    },
    'Settings of the kubelets.',
  ),
);

const serverImage = 'registry.k8s.io/kas-network-proxy/proxy-server';
const agentImage = 'registry.k8s.io/kas-network-proxy/proxy-agent';

export const konnectivity: () => Field<KonnectivitySpec> = once(() =>
  object(
    {
      agent: object(
        {
          extraArgs: extraArgs('the agent'),
          hostNetwork: boolean('Run the agent in the network of its node.').default(false),
          image: string('Image of the agent.').default(agentImage),
          mode: oneOf(['DaemonSet', 'Deployment'], 'One agent on every node, or as many as replicas says.').default(
            'DaemonSet',
          ),
          replicas: int32('Number of agents, as a Deployment.'),
          tolerations: list(coreType<Toleration>('Toleration'), 'Taints that the agent tolerates.').default([
            { key: 'CriticalAddonsOnly', operator: 'Exists' },
          ]),
          version: string('Tag of the image; that of the Kubernetes version when empty.'),
        },
        'The part inside the cluster.',
      )
        .default({ image: agentImage, mode: 'DaemonSet' })
        .rule(
          "!(self.mode == 'DaemonSet' && has(self.replicas) && self.replicas != 0) && !(self.mode == 'Deployment' && has(self.replicas) && self.replicas == 0)",
          'replicas must be 0 (or unset) when mode is DaemonSet, and greater than 0 (or unset) when mode is Deployment',
        ),
      server: object(
        {
          extraArgs: extraArgs('the server'),
          image: string('Image of the server.').default(serverImage),
          port: int32('Port of the server for agents.').required(),
          resources: resources('the server'),
          securityContext: coreType<SecurityContext>('SecurityContext', 'Security settings of the server.'),
          version: string('Tag of the image; that of the Kubernetes version when empty.'),
        },
        'The part beside the API server.',
      ).default({ image: serverImage, port: 8132 }),
    },
    'Tunnel from the control plane to the nodes.',
  ),
);

const admissionPlugins = [
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'DenyEscalatingExec',
  'DenyExecOnPrivileged',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'MutatingAdmissionWebhook',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'NamespaceLifecycle',
  'NodeRestriction',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'PersistentVolumeLabel',
  'PodNodeSelector',
  'PodSecurity',
  'PodSecurityPolicy',
  'PodTolerationRestriction',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'SecurityContextDeny',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionWebhook',
];

/** Default admission plugins of Kamaji. NodeRestriction is not among them. */
export const defaultAdmissionPlugins: readonly string[] = [
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'LimitRanger',
  'MutatingAdmissionWebhook',
  'NamespaceLifecycle',
  'PersistentVolumeClaimResize',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionWebhook',
];

export const admissionControllers = (): Field<string[]> =>
  list(string('', { enum: admissionPlugins }), 'Admission plugins the API server enables.');
