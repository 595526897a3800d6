import { errorMessage } from '../../../../machinery/index.ts';
import { createManager } from '../../../../runtime/index.ts';
import { unreadMetrics } from '../../../controllers/unread-metrics.ts';
import { httpService } from '../../../http-service.ts';
import type { SimulatedProgram } from '../../../process.ts';
import { answerHealth } from '../../components/controller-manager.ts';
import { ProgramFailure } from '../../failure.ts';
import { cobraTable, flagValue, listValue, names, parseFlags } from '../../flags.ts';
import { versionInTag } from '../../image.ts';
import { klog } from '../../klog.ts';
import type { SimulatedKubernetes } from '../../kubernetes.ts';
import { program } from '../../running.ts';
import { type ConfiguredCloud, openConfiguredCloud } from '../cloud-access.ts';
import { klogger } from '../klogger.ts';
import { serviceAccountClient } from '../service-account.ts';
import { nodeController, nodeLifecycleController } from './nodes.ts';
import type { CloudControllerRun } from './run.ts';
import { serviceController } from './services.ts';

const flagTable = cobraTable(
  names(`
    cloud-config cloud-provider cluster-cidr cluster-name controllers bind-address secure-port v vmodule
    concurrent-service-syncs concurrent-node-syncs node-monitor-period node-status-update-frequency
    route-reconciliation-period controller-start-interval kube-api-burst kube-api-qps kubeconfig master
    leader-elect-lease-duration leader-elect-renew-deadline leader-elect-retry-period leader-elect-resource-lock
    leader-elect-resource-name leader-elect-resource-namespace authentication-kubeconfig authorization-kubeconfig
    authorization-always-allow-paths requestheader-client-ca-file client-ca-file tls-cert-file tls-private-key-file
    cert-dir feature-gates min-resync-period user-agent log-file logging-format external-cloud-volume-plugin`),
  names(
    'use-service-account-credentials leader-elect configure-cloud-routes allocate-node-cidrs profiling logtostderr',
  ),
);

/** Exit code of klog.Fatal. */
const fatal = 255;
/** Renewed rarely, because every simulated cluster has such a lease, and a minute without a leader is harmless. */
const lease = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 10_000 };
const allControllers = ['cloud-node', 'cloud-node-lifecycle', 'route', 'service'];

/** openstack-cloud-controller-manager: reaches its cluster by its service account, and the cloud by mounted files. */
export function cloudControllerProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { argv, env } = process;
    const { flags } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), flagTable);
    klog(process, 'I', 'controllermanager.go:166', `Version: v${versionInTag(process.image) ?? '0.0.0'}`);
    const configured = await configuredCloud();
    const client = serviceAccountClient(process);
    const run: CloudControllerRun = {
      process,
      cloud: configured.cloud,
      conf: configured.conf,
      clusterName: flagValue(flags, 'cluster-name') ?? 'kubernetes',
      region: configured.region,
      isRegional: env['OS_CCM_REGIONAL'] === 'true',
    };
    closing.add(process.listen(Number(flagValue(flags, 'secure-port') ?? 10258), httpService(answerHealth)));
    const manager = createManager({
      client,
      clock: process.clock,
      random: process.random,
      metrics: unreadMetrics(),
      log: klogger(process),
      instance: process.hostname,
      leaderElection: {
        namespace: 'kube-system',
        name: 'cloud-controller-manager',
        identity: `${process.hostname}_${process.random.uuid()}`,
        ...lease,
      },
    });
    const wanted = listValue(flags, 'controllers');
    const isWanted = (name: string): boolean =>
      !wanted.includes(`-${name}`) && (wanted.length === 0 || wanted.includes('*') || wanted.includes(name));
    const known = {
      'cloud-node': nodeController,
      'cloud-node-lifecycle': nodeLifecycleController,
      service: serviceController,
    };
    for (const [name, controller] of Object.entries(known)) if (isWanted(name)) manager.add(controller(run));
    for (const name of allControllers) {
      if (isWanted(name)) klog(process, 'I', 'controllermanager.go:325', `Started "${name}-controller"`);
    }
    await manager.run(process.signal);
    return 0;

    async function configuredCloud(): Promise<ConfiguredCloud> {
      const file = flagValue(flags, 'cloud-config') ?? '';
      if (process.files.read(file) === undefined) {
        const reason = `open ${file}: no such file or directory`;
        return fail(`Couldn't open cloud provider configuration ${file}: ${reason}`);
      }
      try {
        return await openConfiguredCloud(kubernetes, process, file);
      } catch (error) {
        if (process.signal.aborted) throw error;
        return fail(
          `Cloud provider could not be initialized: could not init cloud provider "openstack": ${errorMessage(error)}`,
        );
      }
    }

    function fail(message: string): never {
      klog(process, 'F', 'main.go:84', message);
      throw new ProgramFailure('', fatal);
    }
  });
}
