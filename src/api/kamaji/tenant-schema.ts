import type { Affinity } from '../core/affinity-validation.ts';
import type {
  Container,
  PodSecurityContext,
  ResourceRequirements,
  SecurityContext,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  VolumeMount,
} from '../core/pod-types.ts';
import { parentReference } from '../gateway/common-schema.ts';
import { coreType } from '../kind/core-type.ts';
import { boolean, type Field, int32, list, object, once, string, stringMap } from '../kind/schema.ts';
import {
  additionalMetadata,
  additionalPorts,
  admissionControllers,
  dataStoreOverrides,
  dataStoreUsername,
  defaultAdmissionPlugins,
  extraArgs,
  imageOverride,
  konnectivity,
  kubelet,
  probeFields,
  probeSet,
  resources,
  serviceType,
  strategy,
} from './component-schema.ts';
import type {
  PerComponent,
  PerComponentAndKine,
  TenantAddons,
  TenantControlPlaneSpec,
  TenantDeployment,
  TenantGateway,
  TenantNetworkProfile,
  TenantService,
} from './types.ts';

const names = {
  apiServer: 'the API server',
  controllerManager: 'the controller manager',
  scheduler: 'the scheduler',
} as const;

function perComponent<T>(make: (what: string) => Field<T>): Record<keyof PerComponent<T>, Field<T>> {
  return {
    apiServer: make(names.apiServer),
    controllerManager: make(names.controllerManager),
    scheduler: make(names.scheduler),
  };
}

function perComponentAndKine<T>(make: (what: string) => Field<T>): Record<keyof PerComponentAndKine<T>, Field<T>> {
  return { ...perComponent(make), kine: make('kine') };
}

const registryDefaults = {
  apiServerImage: 'kube-apiserver',
  controllerManagerImage: 'kube-controller-manager',
  registry: 'registry.k8s.io',
  schedulerImage: 'kube-scheduler',
};

const deployment: () => Field<TenantDeployment> = once(() =>
  object(
    {
      additionalContainers: list(coreType<Container>('Container'), 'Additional containers of the pods.'),
      additionalInitContainers: list(coreType<Container>('Container'), 'Additional init containers of the pods.'),
      additionalMetadata: additionalMetadata('the Deployment'),
      additionalVolumeMounts: object(
        perComponent<VolumeMount[]>((what) => list(coreType<VolumeMount>('VolumeMount'), `Mounts of ${what}.`)),
        'Mounts of the additional volumes.',
      ),
      additionalVolumes: list(coreType<Volume>('Volume'), 'Additional volumes of the pods.'),
      affinity: coreType<Affinity>('Affinity', 'Scheduling of the pods.'),
      automountServiceAccountToken: boolean('Give the pods the token of their service account.'),
      containerSecurityContexts: object(
        perComponent<SecurityContext>((what) =>
          coreType<SecurityContext>('SecurityContext', `Security settings of ${what}.`),
        ),
        'Security settings of the containers.',
      ),
      extraArgs: object(perComponentAndKine<string[]>(extraArgs), 'Additional arguments of the programs.'),
      nodeSelector: stringMap('Labels of the nodes the pods may run on.'),
      podAdditionalMetadata: additionalMetadata('the pods'),
      podSecurityContext: coreType<PodSecurityContext>('PodSecurityContext', 'Security settings of the pods.'),
      probes: object(
        { ...probeFields(), ...perComponent(probeSet) },
        'Settings of the probes; those of a program win.',
      ),
      registrySettings: object(
        {
          apiServerImage: string('Name of the image of the API server.').default(registryDefaults.apiServerImage),
          controllerManagerImage: string('Name of the image of the controller manager.').default(
            registryDefaults.controllerManagerImage,
          ),
          registry: string('Registry of the images.').default(registryDefaults.registry),
          schedulerImage: string('Name of the image of the scheduler.').default(registryDefaults.schedulerImage),
          tagSuffix: string('Added to the version to make the tag.'),
        },
        'Repository of the images.',
      ).default(registryDefaults),
      replicas: int32('Desired number of pods; 0 hibernates the control plane.').default(2),
      resources: object(perComponentAndKine<ResourceRequirements>(resources), 'Resources of the programs.'),
      runtimeClassName: string('Runtime class of the pods.'),
      serviceAccountName: string('Service account of the pods.').default('default'),
      strategy: strategy().default({
        rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 },
        type: 'RollingUpdate',
      }),
      tolerations: list(coreType<Toleration>('Toleration'), 'Taints that the pods tolerate.'),
      topologySpreadConstraints: list(
        coreType<TopologySpreadConstraint>('TopologySpreadConstraint'),
        'How the pods are spread over nodes.',
      ),
    },
    'The pods of the control plane.',
  ),
);

const service = (): Field<TenantService> =>
  object(
    {
      additionalMetadata: additionalMetadata('the Service'),
      additionalPorts: additionalPorts(),
      allocateLoadBalancerNodePorts: boolean('Whether a load balancer needs node ports.'),
      serviceType: serviceType().required(),
    },
    'The Service in front of the control plane.',
  );

const gateway = (): Field<TenantGateway> =>
  object(
    {
      additionalMetadata: additionalMetadata('the routes'),
      hostname: string('Name of the control plane.', {
        minLength: 1,
        maxLength: 253,
        pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
      }),
      parentRefs: list(parentReference(), 'The Gateways.'),
    },
    'Reaches the control plane through a Gateway.',
  );

const cidr = (name: string, description: string): Field<string> =>
  string(description).rule("self == '' || isCIDR(self)", `${name} must be empty or a valid CIDR`);
const cidrs = (name: string, description: string): Field<string[]> =>
  list(string(), description, { minItems: 1, maxItems: 2 }).rule(
    'self.all(x, isCIDR(x))',
    `all ${name} entries must be valid CIDRs`,
  );

const networkProfile: () => Field<TenantNetworkProfile> = once(() =>
  object(
    {
      address: string('Address of the control plane; that of its Service when empty.'),
      advertiseAddress: string('Address for the nodes, if it is another one.').rule(
        "self == '' || isIP(self)",
        'advertiseAddress must be a valid IP address',
      ),
      allowAddressAsExternalIP: boolean('Make the address an external IP of the Service.'),
      certSANs: list(string(), 'Additional names of the serving certificate.'),
      clusterDomain: string('Domain of the cluster; cannot change.', { pattern: '.*\\..*' })
        .default('cluster.local')
        .rule('self == oldSelf', 'changing the cluster domain is not supported'),
      dnsServiceIPs: list(string(), 'Addresses of the DNS; the tenth of each service range when empty.', {
        maxItems: 8,
      }),
      loadBalancerClass: string('Class of the load balancer; cannot change.', { minLength: 1 }).rule(
        'self == oldSelf',
        'LoadBalancerClass is immutable',
      ),
      loadBalancerSourceRanges: list(string(), 'Source ranges that may reach the load balancer.', {
        maxItems: 16,
      }).rule('self.all(r, isCIDR(r))', 'all LoadBalancer source range entries must be valid CIDR'),
      podCidr: cidr('podCidr', 'Range of the pods; podCidrs is better.').default('10.244.0.0/16'),
      podCidrs: cidrs('podCidrs', 'Ranges of the pods, one of each family.'),
      port: int32('Port of the API server.').default(6443),
      serviceCidr: cidr('serviceCidr', 'Range of the services; serviceCidrs is better.').default('10.96.0.0/16'),
      serviceCidrs: cidrs('serviceCidrs', 'Ranges of the services, one of each family.'),
    },
    'Addresses and ranges.',
  ),
);

const addons: () => Field<TenantAddons> = once(() =>
  object(
    {
      coreDNS: object(imageOverride, 'DNS inside the cluster.'),
      konnectivity: konnectivity(),
      kubeProxy: object(imageOverride, 'Services inside the cluster.'),
    },
    'Add-ons to install into the cluster.',
  ),
);

const unchangedOnce = (name: string): [rule: string, message: string] => [
  `!has(oldSelf.${name}) || has(self.${name})`,
  `unsetting the ${name} is not supported`,
];

export const tenantControlPlaneSpec: () => Field<TenantControlPlaneSpec> = once(() =>
  object(
    {
      addons: addons(),
      controlPlane: object(
        {
          deployment: deployment(),
          gateway: gateway(),
          ingress: object(
            {
              additionalMetadata: additionalMetadata('the Ingress'),
              hostname: string('Name of the control plane.'),
              ingressClassName: string('Class of the Ingress.'),
            },
            'Reaches the control plane through an Ingress.',
          ),
          service: service().required(),
        },
        'The programs and how they are reached.',
      )
        .rule('!(has(self.ingress) && has(self.gateway))', 'using both ingress and gateway is not supported')
        .required(),
      dataStore: string('The DataStore. If you change it, the data moves there.'),
      dataStoreOverrides: dataStoreOverrides(),
      dataStoreSchema: string('Place in the DataStore; if empty, the UID of the object. Cannot change.').rule(
        'self == oldSelf',
        'changing the dataStoreSchema is not supported',
      ),
      dataStoreUsername: dataStoreUsername(),
      kubernetes: object(
        {
          admissionControllers: admissionControllers().default([...defaultAdmissionPlugins]),
          kubelet: kubelet().required(),
          version: string('Desired Kubernetes version.').required(),
        },
        'Kubernetes of the cluster.',
      ).required(),
      // The CEL rules below read this field.
      networkProfile: networkProfile().default({}),
      writePermissions: object(
        {
          blockCreation: boolean('Refuse new objects.'),
          blockDeletion: boolean('Refuse deletions.'),
          blockUpdate: boolean('Refuse changes.'),
        },
        'Operations that tenants may not do for now.',
      ),
    },
    'Desired state.',
  )
    .rule(...unchangedOnce('dataStore'))
    .rule(...unchangedOnce('dataStoreSchema'))
    .rule(...unchangedOnce('dataStoreUsername'))
    .rule(
      "!has(self.networkProfile.loadBalancerSourceRanges) || (size(self.networkProfile.loadBalancerSourceRanges) == 0 || self.controlPlane.service.serviceType == 'LoadBalancer')",
      'LoadBalancer source ranges are supported only with LoadBalancer service type',
    )
    .rule(
      "!has(self.networkProfile.loadBalancerClass) || self.controlPlane.service.serviceType == 'LoadBalancer'",
      'LoadBalancerClass is supported only with LoadBalancer service type',
    )
    .rule(
      "!has(self.controlPlane.service.allocateLoadBalancerNodePorts) || self.controlPlane.service.serviceType == 'LoadBalancer'",
      'allocateLoadBalancerNodePorts is supported only with LoadBalancer service type',
    )
    .rule(
      "self.controlPlane.service.serviceType != 'LoadBalancer' || (oldSelf.controlPlane.service.serviceType != 'LoadBalancer' && self.controlPlane.service.serviceType == 'LoadBalancer') || has(self.networkProfile.loadBalancerClass) == has(oldSelf.networkProfile.loadBalancerClass)",
      'LoadBalancerClass cannot be set or unset at runtime',
    ),
);
