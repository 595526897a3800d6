/** Files of kubeadm and the kubelet. */
export const paths = {
  kubeletConfig: '/var/lib/kubelet/config.yaml',
  kubeletFlags: '/var/lib/kubelet/kubeadm-flags.env',
  kubeletCertificate: '/var/lib/kubelet/pki/kubelet-client-current.pem',
  kubeletKubeconfig: '/etc/kubernetes/kubelet.conf',
  bootstrapKubeconfig: '/etc/kubernetes/bootstrap-kubelet.conf',
  adminKubeconfig: '/etc/kubernetes/admin.conf',
  superAdminKubeconfig: '/etc/kubernetes/super-admin.conf',
  controllerManagerKubeconfig: '/etc/kubernetes/controller-manager.conf',
  schedulerKubeconfig: '/etc/kubernetes/scheduler.conf',
  manifests: '/etc/kubernetes/manifests',
  pki: '/etc/kubernetes/pki',
  /** identifies the etcd cluster and the member of the data on this disk */
  etcdData: '/var/lib/etcd/member/snap/db',
} as const;

export const controlPlaneComponents = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
export type ControlPlaneComponent = (typeof controlPlaneComponents)[number];

export const manifestPath = (component: ControlPlaneComponent): string => `${paths.manifests}/${component}.yaml`;

export const bootstrapTokenGroup = 'system:bootstrappers:kubeadm:default-node-token';
