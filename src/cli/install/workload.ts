import type { Deployment, NetworkPolicy, PodDisruptionBudget, Service } from '../../api/index.ts';
import { controllerEnvironment } from '../controller/controller-memory.ts';
import { accountName, systemNamespace } from '../controller-identity.ts';
import { installedLabels } from './labels.ts';
import { webhookService } from './webhook-service.ts';

const name = 'capstan-controllers';
/** key of the Deployment */
export const controllersKey: { namespace: string; name: string } = { namespace: systemNamespace, name };
const podLabels = { 'app.kubernetes.io/name': 'capstan', 'app.kubernetes.io/component': 'controllers' };
const metadata = { name, namespace: systemNamespace, labels: { ...installedLabels } };
/** Ports that self-managed clusters dial. */
export const cellPorts = { bootstrap: 8443, agents: 50_051 } as const;
const ports = { webhooks: 9443, health: 9440, metrics: 8080, ...cellPorts };
/** A uid without account on any host. */
const user = 65532;

/**
 * All replicas serve the webhooks; one of them leads, or all share the work. Complies with the pod security level
 * "restricted".
 */
export function controllersDeployment(options: {
  image: string;
  replicas: number;
  shares: boolean;
  pullSecret?: string;
}): Deployment {
  const { image, replicas, shares, pullSecret } = options;
  const probe = (path: string) => ({ httpGet: { path, port: 'health' } });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas,
      selector: { matchLabels: podLabels },
      // Adds a replica before removing one, so that webhooks are always served.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels: { ...installedLabels, ...podLabels } },
        spec: {
          serviceAccountName: accountName,
          ...(pullSecret !== undefined && { imagePullSecrets: [{ name: pullSecret }] }),
          terminationGracePeriodSeconds: 30,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: user,
            runAsGroup: user,
            fsGroup: user,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: podLabels },
            },
          ],
          containers: [
            {
              name: 'controllers',
              image,
              args: [
                'controller',
                `--webhook-port=${ports.webhooks}`,
                `--health-probe-bind-address=:${ports.health}`,
                `--metrics-bind-address=:${ports.metrics}`,
                `--bootstrap-listen=0.0.0.0:${ports.bootstrap}`,
                `--agent-listen=0.0.0.0:${ports.agents}`,
                '--backup-directory=/var/lib/capstan/backups',
                ...(shares ? ['--shares'] : []),
              ],
              env: [
                // Clusters connect by a Service to the leading Pod.
                { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
                // The image has settings for an API in the same process.
                ...Object.entries(controllerEnvironment).map(([name, value]) => ({ name, value })),
              ],
              ports: [
                { name: 'webhooks', containerPort: ports.webhooks, protocol: 'TCP' },
                { name: 'health', containerPort: ports.health, protocol: 'TCP' },
                { name: 'metrics', containerPort: ports.metrics, protocol: 'TCP' },
                { name: 'bootstrap', containerPort: ports.bootstrap, protocol: 'TCP' },
                { name: 'agents', containerPort: ports.agents, protocol: 'TCP' },
              ],
              livenessProbe: { ...probe('/healthz'), initialDelaySeconds: 15, periodSeconds: 20 },
              readinessProbe: { ...probe('/readyz'), periodSeconds: 5 },
              resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '2Gi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              volumeMounts: [
                { name: 'temporary', mountPath: '/tmp' },
                { name: 'data', mountPath: '/var/lib/capstan' },
              ],
            },
          ],
          volumes: [
            { name: 'temporary', emptyDir: {} },
            { name: 'data', emptyDir: {} },
          ],
        },
      },
    },
  };
}

export const webhooksService: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: webhookService.name, namespace: webhookService.namespace, labels: { ...installedLabels } },
  spec: {
    selector: podLabels,
    ports: [{ name: 'webhooks', port: webhookService.port, targetPort: 'webhooks', protocol: 'TCP' }],
  },
};

export const disruptionBudget: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata,
  spec: { maxUnavailable: 1, selector: { matchLabels: podLabels } },
};

/**
 * Allows ingress from API servers, kubelets, Prometheus and clusters, and egress to clouds and clusters at any address.
 */
export const networkPolicy: NetworkPolicy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata,
  spec: {
    podSelector: { matchLabels: podLabels },
    policyTypes: ['Ingress'],
    ingress: [{ ports: Object.values(ports).map((port) => ({ port, protocol: 'TCP' })) }],
  },
};
