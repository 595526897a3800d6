import { httpService } from '../../http-service.ts';
import type { SimulatedProgram } from '../../process.ts';
import { cobraTable, type FlagTable, flagValue, names, parseFlags } from '../flags.ts';
import { kubernetesVersionOf } from '../image.ts';
import { klog } from '../klog.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { componentFlagLives, ofRelease } from '../releases.ts';
import { between, program } from '../running.ts';
import { answerHealth, kubeconfigOf } from './controller-manager.ts';
import { workForCluster } from './leading.ts';

/** Flags of kube-scheduler. */
export const schedulerFlags: FlagTable = cobraTable(
  names(`
    authentication-kubeconfig authentication-token-webhook-cache-ttl authorization-always-allow-paths
    authorization-kubeconfig authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
    bind-address cert-dir client-ca-file config emulated-version feature-gates http2-max-streams-per-connection kube-api-burst
    kube-api-content-type kube-api-qps kubeconfig leader-elect-lease-duration leader-elect-renew-deadline
    leader-elect-resource-lock leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period
    log-flush-frequency logging-format master pod-max-in-unschedulable-pods-duration requestheader-allowed-names
    requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers
    requestheader-username-headers secure-port tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file
    tls-sni-cert-key v vmodule write-config-to`),
  names(`
    authentication-skip-lookup authentication-tolerate-lookup-failure contention-profiling leader-elect
    permit-address-sharing permit-port-sharing profiling`),
);

/** kube-scheduler: schedules Pods of the cluster while it is authorized and the API is reachable. */
export function schedulerProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { argv } = process;
    const known = ofRelease(schedulerFlags, componentFlagLives, kubernetesVersionOf(process.image));
    const { flags } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), known);
    const kubeconfig = kubeconfigOf(process, flags);
    klog(
      process,
      'I',
      'server.go:176',
      `"Starting Kubernetes Scheduler" version="${kubernetesVersionOf(process.image) ?? 'v1.34.0'}"`,
    );
    await process.pass(between(process, 100, 300));
    const port = Number(flagValue(flags, 'secure-port') ?? 10259);
    closing.add(process.listen(port, httpService(answerHealth)));
    return await workForCluster(process, closing, { name: 'kube-scheduler', kubeconfig, roles: { scheduler: true } });
  });
}
