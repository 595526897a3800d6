/** Command line flags of kubelets in all simulated releases. */
const always = `
  address allowed-unsafe-sysctls anonymous-auth application-metrics-count-limit authentication-token-webhook
  authentication-token-webhook-cache-ttl authorization-mode authorization-webhook-cache-authorized-ttl
  authorization-webhook-cache-unauthorized-ttl bootstrap-kubeconfig cert-dir cgroup-driver cgroup-root cgroups-per-qos
  client-ca-file cloud-config cloud-provider cluster-dns cluster-domain config config-dir container-hints
  container-log-max-files container-log-max-size container-runtime-endpoint containerd containerd-namespace
  contention-profiling cpu-cfs-quota cpu-cfs-quota-period cpu-manager-policy cpu-manager-policy-options
  cpu-manager-reconcile-period enable-controller-attach-detach enable-debugging-handlers enable-server
  enforce-node-allocatable event-burst event-qps eviction-hard eviction-max-pod-grace-period eviction-minimum-reclaim
  eviction-pressure-transition-period eviction-soft eviction-soft-grace-period exit-on-lock-contention
  experimental-allocatable-ignore-eviction experimental-mounter-path fail-swap-on feature-gates file-check-frequency
  global-housekeeping-interval hairpin-mode healthz-bind-address healthz-port hostname-override housekeeping-interval
  http-check-frequency image-credential-provider-bin-dir image-credential-provider-config image-gc-high-threshold
  image-gc-low-threshold image-service-endpoint keep-terminated-pod-volumes kernel-memcg-notification kube-api-burst
  kube-api-content-type kube-api-qps kube-reserved kube-reserved-cgroup kubeconfig kubelet-cgroups local-storage-capacity-isolation
  lock-file log-cadvisor-usage log-flush-frequency logging-format log-json-info-buffer-size log-json-split-stream
  log-text-info-buffer-size log-text-split-stream machine-id-file make-iptables-util-chains manifest-url manifest-url-header
  max-open-files max-pods maximum-dead-containers maximum-dead-containers-per-container memory-manager-policy
  minimum-container-ttl-duration minimum-image-ttl-duration node-ip node-labels node-status-max-images
  node-status-update-frequency oom-score-adj pod-cidr pod-infra-container-image pod-manifest-path pod-max-pids
  pods-per-core port protect-kernel-defaults provider-id qos-reserved read-only-port register-node
  register-schedulable register-with-taints registry-burst registry-qps reserved-cpus reserved-memory resolv-conf
  root-dir rotate-certificates rotate-server-certificates runonce runtime-cgroups runtime-request-timeout
  seccomp-default serialize-image-pulls storage-driver-buffer-duration storage-driver-db storage-driver-host
  storage-driver-password storage-driver-secure storage-driver-table storage-driver-user streaming-connection-idle-timeout
  sync-frequency system-cgroups system-reserved system-reserved-cgroup tls-cert-file tls-cipher-suites tls-min-version
  tls-private-key-file topology-manager-policy topology-manager-policy-options topology-manager-scope v version vmodule
  volume-plugin-dir volume-stats-agg-period`;

/** Removed flags, with the first minor version without them. */
const gone: Readonly<Record<string, number>> = {
  'cni-bin-dir': 24,
  'cni-cache-dir': 24,
  'cni-conf-dir': 24,
  docker: 24,
  'docker-endpoint': 24,
  'dynamic-config-dir': 24,
  'image-pull-progress-deadline': 24,
  'network-plugin': 24,
  'network-plugin-mtu': 24,
  'non-masquerade-cidr': 24,
  'container-runtime': 27,
  'master-service-namespace': 27,
};

const known: ReadonlySet<string> = new Set(always.trim().split(/\s+/));

/** Returns why a kubelet does not start with these flags, or undefined if it does. */
export function kubeletFlagProblem(names: Iterable<string>, version: string): string | undefined {
  const minor = Number(/^v?1\.(\d+)/.exec(version)?.[1] ?? Number.NaN);
  for (const name of names) {
    if (known.has(name)) continue;
    const end = gone[name];
    if (end === undefined || minor >= end) return `failed to parse kubelet flag: unknown flag: --${name}`;
  }
  return undefined;
}
