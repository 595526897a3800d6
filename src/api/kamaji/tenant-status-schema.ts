import { conditions } from '../cluster/common-schema.ts';
import type { LoadBalancerIngress } from '../core/service-types.ts';
import { addressType, routeParentStatus } from '../gateway/common-schema.ts';
import { coreType } from '../kind/core-type.ts';
import {
  atomicList,
  boolean,
  type Field,
  int32,
  int64,
  list,
  listKeyedBy,
  object,
  once,
  oneOf,
  string,
  time,
} from '../kind/schema.ts';
import type {
  TenantControlPlaneStatus,
  TenantDeploymentStatus,
  TenantGatewayStatus,
  TenantKonnectivityStatus,
  TenantServiceStatus,
  WrittenObject,
  WrittenSecret,
} from './types.ts';

const checksum = (): Field<string> => string('Of the content.');
const lastUpdate = (): Field<string> => time('Time of the last write.');

const secret = (what: string): Field<WrittenSecret> =>
  object({ checksum: checksum(), lastUpdate: lastUpdate(), secretName: string('Name of the Secret.') }, `${what}.`);

const writtenFields: Record<keyof WrittenObject, Field<string>> = {
  lastUpdate: lastUpdate(),
  name: string('Name of the object.'),
  namespace: string('Namespace of the object.'),
};
const written = (what: string): Field<WrittenObject> => object(writtenFields, `${what}.`);

const loadBalancer = (): Field<{ ingress?: LoadBalancerIngress[] }> =>
  object(
    { ingress: atomicList(coreType<LoadBalancerIngress>('LoadBalancerIngress'), 'Addresses of the load balancer.') },
    'State of the load balancer.',
  );

const named = () => ({
  name: string('Name of the object.').required(),
  namespace: string('Namespace of the object.').required(),
});

const service = (): Field<TenantServiceStatus> =>
  object(
    {
      ...named(),
      conditions: conditions(),
      loadBalancer: loadBalancer(),
      port: int32('Port of the Service.').required(),
    },
    'The Service.',
  );

const gateway: () => Field<TenantGatewayStatus> = once(() =>
  object(
    {
      accessPoints: list(
        object({
          port: int32('The port.').required(),
          type: addressType().required(),
          urls: list(string(), 'Complete addresses.'),
          value: string('The address or name.').required(),
        }),
        'Listeners of the Gateway.',
      ),
      parents: atomicList(routeParentStatus(), 'Status of the route at its Gateways.', { maxItems: 32 }).required(),
      routeRef: object({ name: string('Name of the route.').default('') }, 'The route.', {
        'x-kubernetes-map-type': 'atomic',
      }),
    },
    'The route of a Gateway.',
  ),
);

const deployment: () => Field<TenantDeploymentStatus> = once(() =>
  object(
    {
      ...named(),
      availableReplicas: int32('Pods that are available.'),
      collisionCount: int32('Number of name collisions.'),
      conditions: listKeyedBy(
        ['type'],
        object({
          lastTransitionTime: time('When the status changed last.'),
          lastUpdateTime: time('When it was looked at last.'),
          message: string('Why, in a sentence.'),
          reason: string('Why, as one word.'),
          status: string('True, False or Unknown.').required(),
          type: string('What the condition is about.').required(),
        }),
        'Conditions of the Deployment.',
      ),
      lastUpdate: lastUpdate(),
      observedGeneration: int64('Generation of the Deployment that this describes.'),
      readyReplicas: int32('Pods that are ready.'),
      replicas: int32('Pods that exist.'),
      selector: string('Selector of the pods as text.').required(),
      terminatingReplicas: int32('Pods that are ending.'),
      unavailableReplicas: int32('Pods that are missing.'),
      updatedReplicas: int32('Pods that match the spec.'),
    },
    'The Deployment.',
  ),
);

const konnectivity: () => Field<TenantKonnectivityStatus> = once(() =>
  object(
    {
      agent: object({ ...writtenFields, mode: string('DaemonSet or Deployment.') }, 'The agents.'),
      certificate: secret('Certificate of the server'),
      clusterrolebinding: written('What the server may do'),
      configMap: object(
        { checksum: checksum(), name: string('Name of the ConfigMap.') },
        'Settings of the API server.',
      ),
      enabled: boolean('Whether it is desired.').required(),
      gateway: gateway(),
      kubeconfig: secret('Kubeconfig of the server'),
      sa: written('Service account of the agents'),
      service: service(),
    },
    'Konnectivity.',
  ),
);

const addon = (what: string): Field<{ enabled: boolean; lastUpdate?: string }> =>
  object({ enabled: boolean('Whether it is desired.').required(), lastUpdate: lastUpdate() }, `${what}.`);

export const tenantControlPlaneStatus: () => Field<TenantControlPlaneStatus> = once(() =>
  object(
    {
      addons: object(
        { coreDNS: addon('CoreDNS'), konnectivity: konnectivity(), kubeProxy: addon('kube-proxy') },
        'Add-ons inside the cluster.',
      ),
      certificates: object(
        {
          apiServer: secret('Of the API server'),
          apiServerKubeletClient: secret('Of the API server towards kubelets'),
          ca: secret('Authority of the cluster'),
          etcd: object(
            { apiServer: secret('Client certificate of the API server for etcd'), ca: secret('Authority of etcd') },
            'For its own etcd.',
          ),
          frontProxyCA: secret('Authority of the front proxy'),
          frontProxyClient: secret('Of the front proxy'),
          sa: secret('Keys of service account tokens'),
        },
        'Certificates and keys.',
      ),
      conditions: conditions(),
      controlPlaneEndpoint: string('Address of the API server, as host:port.'),
      kubeadmPhase: object(
        {
          bootstrapToken: object(
            { checksum: checksum(), lastUpdate: lastUpdate() },
            'State of the objects that kubeadm needs for tokens.',
          ).required(),
        },
        'State of the objects that kubeadm would create.',
      ),
      kubeadmconfig: object(
        { checksum: checksum(), configmapName: string('Name of the ConfigMap.'), lastUpdate: lastUpdate() },
        'Configuration of kubeadm.',
      ),
      kubeconfig: object(
        {
          admin: secret('For people'),
          controllerManager: secret('For the controller manager'),
          scheduler: secret('For the scheduler'),
        },
        'Kubeconfigs.',
      ),
      kubernetesResources: object(
        {
          deployment: deployment(),
          gateway: gateway(),
          ingress: object({ ...named(), loadBalancer: loadBalancer() }, 'The Ingress.'),
          service: service(),
          version: object(
            {
              status: oneOf(
                [
                  'Unknown',
                  'Provisioning',
                  'CertificateAuthorityRotating',
                  'Upgrading',
                  'Migrating',
                  'Ready',
                  'NotReady',
                  'Sleeping',
                  'WriteLimited',
                ],
                'State of the control plane.',
              ).default('Provisioning'),
              version: string('Version that runs.'),
            },
            'Version and state.',
          ),
        },
        'Created objects in the management cluster.',
      ),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      storage: object(
        {
          certificate: secret('Client certificate for the DataStore'),
          config: object({ checksum: checksum(), secretName: string('Name of the Secret.') }, 'Address and user.'),
          dataStoreName: string('Name of the DataStore.'),
          driver: string('Type of the DataStore.'),
          setup: object(
            {
              checksum: checksum(),
              lastUpdate: lastUpdate(),
              schema: string('Place in the DataStore.'),
              user: string('User.'),
            },
            'Objects created in the DataStore.',
          ),
        },
        'Storage of the data.',
      ),
    },
    'Observed state.',
  ),
);
