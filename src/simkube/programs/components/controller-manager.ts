import { isMatchingPair } from '../../../pki/index.ts';
import type { ControllerManagerSettings } from '../../cluster/settings.ts';
import { httpService } from '../../http-service.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { cobraTable, type Flags, type FlagTable, flagValue, names, parseFlags } from '../flags.ts';
import { kubernetesVersionOf } from '../image.ts';
import { klog } from '../klog.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { componentFlagLives, ofRelease } from '../releases.ts';
import { between, program, requiredFile } from '../running.ts';
import { workForCluster } from './leading.ts';

/** Flags of kube-controller-manager. */
export const controllerManagerFlags: FlagTable = cobraTable(
  names(`
    allocate-node-cidrs-type attach-detach-reconcile-sync-period authentication-kubeconfig authentication-token-webhook-cache-ttl
    authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl
    authorization-webhook-cache-unauthorized-ttl bind-address cert-dir cidr-allocator-type client-ca-file cloud-config
    cloud-provider cluster-cidr cluster-name cluster-signing-cert-file cluster-signing-duration cluster-signing-key-file
    cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file
    cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file
    cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file
    cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file concurrent-cron-job-syncs
    concurrent-daemonset-syncs concurrent-deployment-syncs concurrent-endpoint-syncs concurrent-gc-syncs
    concurrent-horizontal-pod-autoscaler-syncs concurrent-job-syncs concurrent-namespace-syncs
    concurrent-rc-syncs concurrent-replicaset-syncs concurrent-resource-quota-syncs concurrent-service-endpoint-syncs
    concurrent-service-syncs concurrent-serviceaccount-token-syncs concurrent-statefulset-syncs
    concurrent-ttl-after-finished-syncs configure-cloud-routes-type controller-start-interval controllers
    emulated-version endpoint-updates-batch-period endpointslice-updates-batch-period external-cloud-volume-plugin
    feature-gates flex-volume-plugin-dir horizontal-pod-autoscaler-cpu-initialization-period
    horizontal-pod-autoscaler-downscale-stabilization horizontal-pod-autoscaler-initial-readiness-delay
    horizontal-pod-autoscaler-sync-period horizontal-pod-autoscaler-tolerance http2-max-streams-per-connection
    kube-api-burst kube-api-content-type kube-api-qps kubeconfig large-cluster-size-threshold leader-elect-lease-duration
    leader-elect-renew-deadline leader-elect-resource-lock leader-elect-resource-name leader-elect-resource-namespace
    leader-elect-retry-period log-flush-frequency logging-format master max-endpoints-per-slice min-resync-period
    mirroring-max-endpoints-per-subset namespace-sync-period node-cidr-mask-size node-cidr-mask-size-ipv4
    node-cidr-mask-size-ipv6 node-eviction-rate node-monitor-grace-period node-monitor-period node-startup-grace-period
    profiling-type pvclaimbinder-sync-period requestheader-allowed-names requestheader-client-ca-file
    requestheader-extra-headers-prefix requestheader-group-headers requestheader-username-headers resource-quota-sync-period
    root-ca-file route-reconciliation-period secondary-node-eviction-rate secure-port service-account-private-key-file
    service-cluster-ip-range terminated-pod-gc-threshold tls-cert-file tls-cipher-suites tls-min-version
    tls-private-key-file tls-sni-cert-key unhealthy-zone-threshold v vmodule volume-host-allow-local-loopback-type`),
  names(`
    allocate-node-cidrs authentication-skip-lookup authentication-tolerate-lookup-failure configure-cloud-routes
    contention-profiling disable-attach-detach-reconcile-sync enable-dynamic-provisioning enable-garbage-collector
    enable-hostpath-provisioner enable-leader-migration leader-elect permit-address-sharing permit-port-sharing profiling
    use-service-account-credentials`),
);

/** kube-controller-manager: runs its controllers in the cluster while it is authorized and the API is reachable. */
export function controllerManagerProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { argv } = process;
    const known = ofRelease(controllerManagerFlags, componentFlagLives, kubernetesVersionOf(process.image));
    const { flags } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), known);
    const manager = managerSettings(process, flags);
    const kubeconfig = kubeconfigOf(process, flags);
    klog(process, 'I', 'controllermanager.go:191', `Version: ${kubernetesVersionOf(process.image) ?? 'v1.34.0'}`);
    await process.pass(between(process, 100, 300));
    const port = Number(flagValue(flags, 'secure-port') ?? 10257);
    closing.add(process.listen(port, httpService(answerHealth)));
    return await workForCluster(process, closing, {
      name: 'kube-controller-manager',
      kubeconfig,
      roles: { manager },
    });
  });
}

/** Health endpoints of a component. */
export function answerHealth(path: string): { status: number; body: string } {
  const [plain] = path.split('?');
  const isHealth = plain === '/healthz' || plain === '/livez' || plain === '/readyz';
  return isHealth ? { status: 200, body: 'ok' } : { status: 404, body: '404 page not found\n' };
}

export function kubeconfigOf({ files }: SimulatedProcess, flags: Flags): string {
  const path = flagValue(flags, 'kubeconfig');
  if (path === undefined) {
    throw new ProgramFailure(
      'Error: invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable',
    );
  }
  for (const name of ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig', 'config']) {
    const file = flagValue(flags, name);
    if (file !== undefined && files.read(file) === undefined) {
      throw new ProgramFailure(`Error: stat ${file}: no such file or directory`);
    }
  }
  return path;
}

function managerSettings(process: SimulatedProcess, flags: Flags): ControllerManagerSettings {
  const read = (name: string): string | undefined => {
    const path = flagValue(flags, name);
    if (path === undefined || path === '') return undefined;
    return requiredFile(process, path, (reason) => new ProgramFailure(`Error: error reading ${name}: ${reason}`));
  };
  for (const name of ['service-account-private-key-file', 'client-ca-file', 'requestheader-client-ca-file']) read(name);
  const certificate = read('cluster-signing-cert-file');
  const privateKey = read('cluster-signing-key-file');
  const rootAuthorities = read('root-ca-file');
  if (certificate !== undefined && privateKey !== undefined && !isMatchingPair(certificate, privateKey)) {
    throw new ProgramFailure(
      `Error: failed to start certificate controller: error reading CA cert file "${flagValue(flags, 'cluster-signing-cert-file')}": tls: private key does not match public key`,
    );
  }
  return {
    ...(certificate !== undefined && privateKey !== undefined && { signingAuthority: { certificate, privateKey } }),
    ...(rootAuthorities !== undefined && { rootAuthorities }),
  };
}
