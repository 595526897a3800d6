import { condition } from '../cluster/common-schema.ts';
import {
  anyObject,
  boolean,
  type Field,
  fieldOf,
  int32,
  int64,
  list,
  listKeyedBy,
  mapOf,
  object,
  once,
  oneOf,
  string,
  stringMap,
} from '../kind/schema.ts';
import { latticeDefaults } from './settings.ts';
import type {
  LatticeClusterSpec,
  LatticeClusterStatus,
  LatticeControlPlaneNodes,
  LatticeEndpoints,
  LatticeInstanceType,
  LatticeOpenStackConfig,
  LatticePoolStatus,
  LatticeRootVolume,
  LatticeSecretReference,
  LatticeWorkerPool,
} from './types.ts';

const name = (description: string): Field<string> => string(description, { minLength: 1, maxLength: 253 });

const port = (description: string, value: number): Field<number> =>
  int32(description, { minimum: 1, maximum: 65535 }).default(value);

const sizeGb = (description: string): Field<number> => int32(description, { minimum: 1, maximum: 65536 });

const secretReference = (description: string, namespace: string): Field<LatticeSecretReference> =>
  object(
    {
      name: name('Name of the Secret.').required(),
      namespace: string('Namespace of the Secret.', { minLength: 1, maxLength: 63 }).default(namespace),
    },
    description,
  );

const rootVolume = (): Field<LatticeRootVolume> =>
  object(
    {
      sizeGb: sizeGb('Size in GiB.').required(),
      type: name('Volume type; default: the default of the cloud.'),
    },
    'Boot volume of the machines; without it they boot from the disk of their flavor.',
  );

const instanceType = (): Field<LatticeInstanceType> =>
  object({ name: name('Name of the flavor.').required() }, 'Flavor of the machines.');

const openStackConfig: () => Field<LatticeOpenStackConfig> = once(() =>
  object(
    {
      externalNetworkId: name('External network, by id or name.'),
      externalNetwork: name('External network, by name or id; the same as externalNetworkId.'),
      cpFlavor: name('Flavor of control plane machines; nodes.controlPlane.instanceType.name wins over it.'),
      workerFlavor: name('Flavor of workers; instanceType.name of a pool wins over it.'),
      imageName: name(
        'Image of all machines: a stock Ubuntu 22.04 or 24.04, or an image with the programs of the chosen bootstrap.',
      ).required(),
      sshKeyName: name('Key pair of all machines.').required(),
      cloudName: name('Entry of clouds.yaml.').default(latticeDefaults.cloudName),
      secretRef: secretReference(
        'Secret with clouds.yaml, and cacert if the cloud needs it; default: capo-system/openstack-cloud-config.',
        latticeDefaults.secret.namespace,
      ),
      dnsNameservers: list(string(), 'DNS servers of the node network.', { maxItems: 5 }).default([
        ...latticeDefaults.dnsNameservers,
      ]),
      nodeCidr: string('Addresses of the node network; cannot change after the creation of the cluster.').default(
        latticeDefaults.nodeCidr,
      ),
      apiServerLoadBalancerFlavor: name('Octavia flavor of the load balancer of the API.'),
      cpAvailabilityZone: name('Zone of control plane machines.'),
      workerAvailabilityZone: name('Zone of workers.'),
      cpRootVolumeSizeGb: sizeGb('Size in GiB of the volume control plane machines boot from.'),
      cpRootVolumeType: name('Type of that volume.'),
      workerRootVolumeSizeGb: sizeGb('Size in GiB of the volume workers boot from.'),
      workerRootVolumeType: name('Type of that volume.'),
      managedSecurityGroups: boolean('Whether the machines get their own security groups.').default(true),
      allowAllInClusterTraffic: boolean('Whether machines of the cluster may reach each other on every port.').default(
        false,
      ),
      sshAuthorizedKeys: list(string(), 'Public keys that may log in as root.', { maxItems: 64 }),
    },
    'A cluster on OpenStack.',
  ),
);

/** A number or the object of the later revision; a structural schema cannot express this union. */
const controlPlane = (): Field<number | LatticeControlPlaneNodes> =>
  fieldOf<number | LatticeControlPlaneNodes>({
    description:
      'Number of control plane machines, one or an odd number; or an object with replicas, instanceType.name and rootVolume {sizeGb, type}.',
    'x-kubernetes-preserve-unknown-fields': true,
  });

const workerPool: () => Field<LatticeWorkerPool> = once(() =>
  object(
    {
      replicas: int32('Number of nodes. With min and max, an autoscaler sets it and starts with min.', {
        minimum: 0,
      }).required(),
      displayName: string('Name for humans.', { maxLength: 256 }),
      nodeClass: string('Class of the nodes. Without effect.', { maxLength: 256 }),
      labels: stringMap('Labels of the nodes.'),
      taints: list(
        object({
          key: name('Key of the taint.').required(),
          value: string('Value of the taint.', { maxLength: 63 }),
          effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], 'What happens to Pods.').required(),
        }),
        'Taints of the nodes.',
        { maxItems: 64 },
      ),
      min: int32('Smallest number an autoscaler may choose; needs max.', { minimum: 0 }),
      max: int32('Largest number an autoscaler may choose; needs min.', { minimum: 0 }),
      instanceType: instanceType(),
      rootVolume: rootVolume(),
    },
    'Workers that are alike.',
  ),
);

const endpoints = (description: string): Field<LatticeEndpoints> =>
  object(
    {
      host: string('Host that children connect to; default: the host of the load balancer.', { maxLength: 253 }),
      grpcPort: port('Port of the agents.', 50051),
      bootstrapPort: port('Port that children fetch their manifests from.', 8443),
      proxyPort: port('Port for connections to the APIs of children.', 8081),
      service: object(
        {
          type: oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], 'Type of the Service.').default('LoadBalancer'),
        },
        'The Service of the endpoints.',
      ),
    },
    description,
  );

export const latticeClusterSpec: () => Field<LatticeClusterSpec> = once(() =>
  object(
    {
      providerRef: string('Name of the cloud provider; filled in from provider.config.', { maxLength: 253 }),
      provider: object(
        {
          kubernetes: object(
            {
              version: string('Version of Kubernetes, such as 1.32.0.', { minLength: 1, maxLength: 64 }).required(),
              bootstrap: oneOf(['kubeadm', 'rke2'], 'Bootstrap provider; cannot change.').default(
                latticeDefaults.bootstrap,
              ),
              certSANs: list(string(), 'Additional names and addresses in the certificate of the API.', {
                maxItems: 64,
              }),
            },
            'Kubernetes of the cluster.',
          ).required(),
          config: object(
            {
              docker: anyObject('Without effect.'),
              proxmox: anyObject('Without effect.'),
              aws: anyObject('Without effect.'),
              openstack: openStackConfig(),
            },
            'Configuration of the provider: exactly one of the fields.',
          ).required(),
          credentialsSecretRef: secretReference(
            'Secret with clouds.yaml; the same as config.openstack.secretRef.',
            latticeDefaults.credentialsNamespace,
          ),
        },
        'Provider of the cluster.',
      ).required(),
      nodes: object(
        {
          controlPlane: controlPlane().required(),
          workerPools: mapOf(workerPool(), 'Workers, by the id of their pool.').with({ maxProperties: 64 }),
        },
        'The machines.',
      ).required(),
      networking: object(
        { default: object({ cidr: string('Without effect: load balancers use Octavia.') }, 'Address pool.') },
        'Address pools of load balancers outside of clouds.',
      ),
      endpoints: endpoints('Makes the cluster a parent of others.'),
      parentConfig: endpoints('Makes the cluster a parent of others; the same as endpoints.'),
      environment: string('Becomes the label lattice.dev/environment of the objects.', { maxLength: 63 }),
      region: string('Becomes the label lattice.dev/region of the objects.', { maxLength: 63 }),
      workload: object({ services: list(anyObject(), 'Without effect.') }, 'Settings of the workloads in the cluster.'),
    },
    'Desired state.',
  ),
);

const poolStatus = (): Field<LatticePoolStatus> =>
  object({
    desiredReplicas: int32('Nodes that are desired.'),
    currentReplicas: int32('Existing machines.'),
    readyReplicas: int32('Nodes that are ready.'),
    autoscalingEnabled: boolean('Whether an autoscaler owns the number of nodes.'),
    message: string('What the pool waits for.'),
  });

export const latticeClusterStatus: () => Field<LatticeClusterStatus> = once(() =>
  object(
    {
      observedGeneration: int64('Generation of the spec that the status describes.'),
      phase: oneOf(
        ['Pending', 'Provisioning', 'Pivoting', 'Ready', 'Deleting', 'Unpivoting', 'Failed'],
        'Progress of the cluster. Failed means that somebody has to act; the controller tries again automatically.',
      ),
      message: string('What the cluster waits for, or what you have to do.'),
      conditions: listKeyedBy(['type'], condition(), 'Conditions of the cluster.'),
      readyControlPlane: int32('Control plane machines that are ready.'),
      readyWorkers: int32('Workers that are ready.'),
      workerPools: mapOf(poolStatus(), 'The pools, by their ids.'),
      endpoint: string('Address of the API, host:port.'),
      pivotComplete: boolean('Whether the cluster manages itself.'),
      bootstrapComplete: boolean('Whether the cluster fetched its manifests.'),
      unpivotPending: boolean('Whether the cluster is moving back to its parent.'),
    },
    'Observed state.',
  ),
);
