import { templateMetadata } from '../../cluster/common-schema.ts';
import type { Affinity } from '../../core/affinity-validation.ts';
import type { Container, Toleration, TopologySpreadConstraint, Volume, VolumeMount } from '../../core/pod-types.ts';
import { plainConditions } from '../../k0smotron/schema.ts';
import {
  additionalMetadata,
  additionalPorts,
  admissionControllers,
  dataStoreOverrides,
  dataStoreUsername,
  extraArgs,
  imageOverride,
  konnectivity,
  kubelet,
  preferredAddresses,
  probeSet,
  resources,
  serviceType,
  strategy,
} from '../../kamaji/component-schema.ts';
import { coreType } from '../../kind/core-type.ts';
import { boolean, type Field, int32, list, object, once, string, stringMap } from '../../kind/schema.ts';
import type {
  KamajiComponent,
  KamajiControlPlaneSpec,
  KamajiControlPlaneStatus,
  KamajiControlPlaneTemplateSpec,
  KamajiDeployment,
  KamajiNetwork,
} from './types.ts';

const component = (what: string): Field<KamajiComponent> =>
  object(
    {
      containerImageName: string('Name of the image.', { minLength: 1 }),
      extraArgs: extraArgs(what),
      extraVolumeMounts: list(coreType<VolumeMount>('VolumeMount'), `Additional mounts of ${what}.`),
      probes: probeSet(what),
      resources: resources(what),
    },
    `Settings of ${what}.`,
  );

const routeMetadata = (what: string) => ({
  extraAnnotations: stringMap(`Annotations of the ${what}.`),
  extraLabels: stringMap(`Labels of the ${what}.`),
});

const network: () => Field<KamajiNetwork> = once(() =>
  object(
    {
      additionalServicePorts: additionalPorts(),
      advertiseAddress: string('Address for the nodes, if it is another one.'),
      certSANs: list(string(), 'Additional names of the serving certificate, without ports.'),
      dnsServiceIPs: list(string(), 'Addresses of the DNS inside the cluster.'),
      gateway: object(
        {
          ...routeMetadata('routes'),
          hostname: string('Name of the control plane, with a port if it is not 443.', { minLength: 1 }).required(),
          name: string('Name of the Gateway.', { minLength: 1 }).required(),
          namespace: string('Namespace of the Gateway.', { minLength: 1 }).required(),
          port: int32('Port of the listener.', { minimum: 1, maximum: 65535 }),
          sectionName: string('Name of the listener.', { minLength: 1, maxLength: 253 }),
        },
        'Reaches the control plane through a Gateway.',
      ),
      ingress: object(
        {
          ...routeMetadata('Ingress'),
          className: string('Class of the Ingress.'),
          hostname: string('Name of the control plane, with a port if it is not 443.', { minLength: 1 }).required(),
        },
        'Reaches the control plane through an Ingress.',
      ),
      loadBalancerConfig: object(
        {
          loadBalancerClass: string('Class of the load balancer; cannot change.', { minLength: 1 }).rule(
            'self == oldSelf',
            'LoadBalancerClass is immutable',
          ),
          loadBalancerSourceRanges: list(string(), 'Source ranges that may reach the load balancer.'),
        },
        'Settings of the load balancer.',
      ).rule(
        'has(self.loadBalancerClass) == has(oldSelf.loadBalancerClass)',
        'LoadBalancerClass cannot be set or unset at runtime',
      ),
      serviceAddress: string('Address of the control plane; that of its Service when empty.'),
      serviceAnnotations: stringMap('Annotations of the Service, such as those of a cloud for its load balancer.'),
      serviceLabels: stringMap('Labels of the Service.'),
      serviceType: serviceType().default('LoadBalancer'),
    },
    'How the control plane is reached.',
  )
    .default({ serviceType: 'LoadBalancer' })
    .rule(
      "!has(self.loadBalancerConfig) || !has(self.loadBalancerConfig.loadBalancerSourceRanges) || (size(self.loadBalancerConfig.loadBalancerSourceRanges) == 0 || self.serviceType == 'LoadBalancer')",
      'LoadBalancerSourceRanges are supported only with LoadBalancer service type',
    )
    .rule(
      "!has(self.loadBalancerConfig) || !has(self.loadBalancerConfig.loadBalancerClass) || self.serviceType == 'LoadBalancer'",
      'LoadBalancerClass is supported only with LoadBalancer service type',
    ),
);

const deployment: () => Field<KamajiDeployment> = once(() =>
  object(
    {
      additionalMetadata: additionalMetadata('the Deployment'),
      affinity: coreType<Affinity>('Affinity', 'Scheduling of the pods.'),
      externalClusterReference: object(
        {
          deploymentNamespace: string('Namespace of the pods there.').required(),
          kubeconfigSecretKey: string('Key of the Secret.', { minLength: 1 }).required(),
          kubeconfigSecretName: string('Secret with the kubeconfig of that cluster.', { minLength: 1 }).required(),
          kubeconfigSecretNamespace: string('Namespace of the Secret.'),
        },
        'Run the pods on another cluster.',
      ),
      extraContainers: list(coreType<Container>('Container'), 'Additional containers of the pods.'),
      extraInitContainers: list(coreType<Container>('Container'), 'Additional init containers of the pods.'),
      extraVolumes: list(coreType<Volume>('Volume'), 'Additional volumes of the pods.'),
      nodeSelector: stringMap('Labels of the nodes the pods may run on.'),
      podAdditionalMetadata: additionalMetadata('the pods'),
      probes: probeSet('all programs'),
      runtimeClassName: string('Runtime class of the pods.'),
      serviceAccountName: string('Service account of the pods.'),
      strategy: strategy(),
      tolerations: list(coreType<Toleration>('Toleration'), 'Taints that the pods tolerate.'),
      topologySpreadConstraints: list(
        coreType<TopologySpreadConstraint>('TopologySpreadConstraint'),
        'How the pods are spread over nodes.',
      ),
    },
    'The pods of the control plane.',
  ),
);

const sharedFields = () => ({
  addons: object(
    {
      coreDNS: object(
        { ...imageOverride, dnsServiceIPs: list(string(), 'Addresses of the DNS.') },
        'DNS inside the cluster.',
      ),
      konnectivity: konnectivity(),
      kubeProxy: object(imageOverride, 'Services inside the cluster.'),
    },
    'Add-ons to install into the cluster.',
  ),
  admissionControllers: admissionControllers(),
  apiServer: component('the API server'),
  controllerManager: component('the controller manager'),
  dataStoreName: string('The DataStore.'),
  dataStoreOverrides: dataStoreOverrides(),
  dataStoreSchema: string('Place in the DataStore.'),
  dataStoreUsername: dataStoreUsername(),
  deployment: deployment(),
  kine: object({ extraArgs: extraArgs('kine'), resources: resources('kine') }, 'Settings of kine.'),
  kubelet: kubelet().default({ cgroupfs: 'systemd', preferredAddressTypes: [...preferredAddresses] }),
  network: network(),
  registry: string('Registry of the images.').default('registry.k8s.io'),
  scheduler: component('the scheduler'),
});

export const kamajiControlPlaneSpec: () => Field<KamajiControlPlaneSpec> = once(() =>
  object(
    {
      ...sharedFields(),
      controlPlaneEndpoint: object(
        {
          host: string('Host of the API server.', { minLength: 1, maxLength: 512 }),
          port: int32('Port of the API server.', { minimum: 1, maximum: 65535 }),
        },
        'Address of the API server; set automatically.',
        { minProperties: 1 },
      ),
      replicas: int32('Desired number of pods; 0 hibernates the control plane.').default(2),
      version: string('Desired Kubernetes version.').required(),
    },
    'Desired state.',
  ),
);

export const kamajiControlPlaneTemplateSpec: () => Field<KamajiControlPlaneTemplateSpec> = once(() =>
  object(
    {
      template: object(
        {
          metadata: templateMetadata(1),
          spec: object(sharedFields(), 'Spec of the control planes.').required(),
        },
        'Template of the control planes.',
      ).required(),
    },
    'Desired state.',
  ),
);

export const kamajiControlPlaneStatus: () => Field<KamajiControlPlaneStatus> = once(() =>
  object(
    {
      availableReplicas: int32('Pods that are available.'),
      conditions: plainConditions(),
      externalManagedControlPlane: boolean('Always true: the control plane has no machines.').default(true).required(),
      failureMessage: string('Message about a terminal failure of the control plane.'),
      failureReason: string('Reason of a terminal failure of the control plane.'),
      initialization: object(
        { controlPlaneInitialized: boolean('True once the control plane has answered; never becomes false again.') },
        'Progress of the first provisioning.',
      ),
      ready: boolean('True while the control plane works.').required(),
      readyReplicas: int32('Pods that are ready.'),
      replicas: int32('Pods that exist.'),
      selector: string('Selector of the pods as text, for the scale subresource.'),
      upToDateReplicas: int32('Pods that match the spec.'),
      version: string('Kubernetes version that runs.').required(),
    },
    'Observed state.',
  ),
);
