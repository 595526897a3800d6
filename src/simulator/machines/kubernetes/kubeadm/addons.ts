import { stringify } from 'yaml';
import { addressInCidr, asJson, cidrFamily, type JsonObject, type KubeObject } from '../../../../machinery/index.ts';
import type { ClusterConfiguration } from './documents.ts';
import { controlPlaneTolerations } from './marks.ts';
import { coreDnsVersion, type KubernetesVersion } from './version.ts';

// CoreDNS and kube-proxy as deployed by kubeadm.

const rbac = 'rbac.authorization.k8s.io';

function serviceAccount(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'kube-system' } };
}

function clusterBinding(name: string, role: string, account: string): KubeObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'kube-system' }],
  } as KubeObject;
}

const corefile = (domain: string): string => `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes ${domain} in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success ${domain}
       disable denial ${domain}
    }
    loop
    reload
    loadbalance
}
`;

/** Returns the tenth address of the Service range, or undefined to use any free address. */
export function dnsAddress(serviceSubnet: string): string | undefined {
  const [range = ''] = serviceSubnet.split(',');
  return cidrFamily(range) === 'IPv4' ? addressInCidr(range, 10) : undefined;
}

export function coreDns(cluster: ClusterConfiguration, version: KubernetesVersion): KubeObject[] {
  const labels = { 'k8s-app': 'kube-dns' };
  const repository = cluster.dnsImageRepository ?? `${cluster.imageRepository}/coredns`;
  const image = `${repository}/coredns:${cluster.dnsImageTag ?? coreDnsVersion(version)}`.replace(
    /coredns\/coredns\/coredns/,
    'coredns/coredns',
  );
  const address = dnsAddress(cluster.serviceSubnet);
  const ports = [
    { containerPort: 53, name: 'dns', protocol: 'UDP' },
    { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
    { containerPort: 9153, name: 'metrics', protocol: 'TCP' },
  ];
  const template: JsonObject = {
    metadata: { labels },
    spec: {
      priorityClassName: 'system-cluster-critical',
      serviceAccountName: 'coredns',
      dnsPolicy: 'Default',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }, ...asJson(controlPlaneTolerations(version))],
      containers: [
        {
          name: 'coredns',
          image,
          imagePullPolicy: 'IfNotPresent',
          args: ['-conf', '/etc/coredns/Corefile'],
          ports,
          resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
          volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
        },
      ],
      volumes: [
        { name: 'config-volume', configMap: { name: 'coredns', items: [{ key: 'Corefile', path: 'Corefile' }] } },
      ],
    },
  };
  return [
    serviceAccount('coredns'),
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'system:coredns' },
      rules: [
        { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    } as KubeObject,
    clusterBinding('system:coredns', 'system:coredns', 'coredns'),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'coredns', namespace: 'kube-system' },
      data: { Corefile: corefile(cluster.dnsDomain) },
    } as KubeObject,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'coredns', namespace: 'kube-system', labels },
      spec: {
        replicas: 2,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        selector: { matchLabels: labels },
        template,
      },
    } as KubeObject,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'kube-dns',
        namespace: 'kube-system',
        labels: { ...labels, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
        annotations: { 'prometheus.io/port': '9153', 'prometheus.io/scrape': 'true' },
      },
      spec: {
        ...(address !== undefined && { clusterIP: address }),
        selector: labels,
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
          { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
          { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 9153 },
        ],
      },
    } as KubeObject,
  ];
}

export function kubeProxy(
  cluster: ClusterConfiguration,
  version: KubernetesVersion,
  server: string,
  given: JsonObject | undefined,
): KubeObject[] {
  const labels = { 'k8s-app': 'kube-proxy' };
  const name = 'kube-proxy';
  const config = stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
    ...(cluster.podSubnet !== undefined && { clusterCIDR: cluster.podSubnet }),
    mode: '',
    ...given,
  });
  const kubeconfig = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default',
        cluster: { 'certificate-authority': '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt', server },
      },
    ],
    contexts: [{ name: 'default', context: { cluster: 'default', namespace: 'default', user: 'default' } }],
    'current-context': 'default',
    users: [{ name: 'default', user: { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' } }],
  });
  return [
    serviceAccount(name),
    clusterBinding('kubeadm:node-proxier', 'system:node-proxier', name),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'kube-system', labels: { app: name } },
      data: { 'config.conf': config, 'kubeconfig.conf': kubeconfig },
    } as KubeObject,
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name, namespace: 'kube-system' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] }],
    } as KubeObject,
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name, namespace: 'kube-system' },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: 'system:bootstrappers:kubeadm:default-node-token' }],
    } as KubeObject,
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name, namespace: 'kube-system', labels },
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: 'RollingUpdate' },
        template: {
          metadata: { labels },
          spec: {
            priorityClassName: 'system-node-critical',
            serviceAccountName: name,
            hostNetwork: true,
            nodeSelector: { 'kubernetes.io/os': 'linux' },
            tolerations: [{ operator: 'Exists' }],
            containers: [
              {
                name,
                image: `${cluster.imageRepository}/kube-proxy:${version.text}`,
                imagePullPolicy: 'IfNotPresent',
                command: ['/usr/local/bin/kube-proxy', '--config=/var/lib/kube-proxy/config.conf'],
                securityContext: { privileged: true },
                volumeMounts: [{ name, mountPath: '/var/lib/kube-proxy' }],
              },
            ],
            volumes: [{ name, configMap: { name } }],
          },
        },
      },
    } as KubeObject,
  ];
}
