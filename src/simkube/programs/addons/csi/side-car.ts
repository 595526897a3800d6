import { type ControllerDefinition, createManager } from '../../../../runtime/index.ts';
import { unreadMetrics } from '../../../controllers/unread-metrics.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../../process.ts';
import { cobraTable, flagValue, names, parseFlags } from '../../flags.ts';
import { versionInTag } from '../../image.ts';
import { klog } from '../../klog.ts';
import type { SimulatedKubernetes } from '../../kubernetes.ts';
import { program, untilStopped } from '../../running.ts';
import { klogger } from '../klogger.ts';
import { serviceAccountClient } from '../service-account.ts';
import { type CsiDriver, socketPath } from './driver.ts';

const flagTable = cobraTable(
  names(`
    csi-address timeout default-fstype feature-gates v worker-threads http-endpoint metrics-address metrics-path
    kube-api-qps kube-api-burst retry-interval-start retry-interval-max leader-election-namespace
    leader-election-lease-duration leader-election-renew-deadline leader-election-retry-period workers
    volume-name-prefix volume-name-uuid-length reconcile-sync resync`),
  names('leader-election extra-create-metadata handle-volume-inuse-error strict-topology immediate-topology'),
);
const retryMs = 1_000;
const lease = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 10_000 };

/** State of a sidecar. */
export interface SideCarRun {
  readonly process: SimulatedProcess;
  /** the plugin in the same Pod; throws a gRPC error while it is unavailable */
  driver(): CsiDriver;
  readonly driverName: string;
}

/** Builds a sidecar program from controllers, which run in the leader while the plugin answers. */
export function sideCarProgram(
  name: string,
  controllers: (run: SideCarRun) => ControllerDefinition[],
): (kubernetes: SimulatedKubernetes) => SimulatedProgram {
  return (kubernetes) =>
    program(async (process) => {
      const { files, clock, random } = process;
      const { flags } = parseFlags(process.argv.slice(1), flagTable);
      const address = socketPath(flagValue(flags, 'csi-address') ?? '/csi/csi.sock');
      klog(process, 'I', 'main.go:141', `Version: v${versionInTag(process.image) ?? '0.0.0'}`);
      const driver = (): CsiDriver => {
        const found = kubernetes.csi.at(files, address);
        if (found && found !== 'node only') return found;
        throw new Error(
          `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${address}: connect: connection refused"`,
        );
      };
      let driverName: string | undefined;
      for (let isSaid = false; driverName === undefined; isSaid = true) {
        try {
          driverName = driver().name;
        } catch {
          if (!isSaid) klog(process, 'W', 'connection.go:234', `Still connecting to unix://${address}`);
          await process.pass(retryMs);
        }
      }
      klog(process, 'I', 'main.go:210', `CSI driver name: ${driverName}`);
      const manager = createManager({
        client: serviceAccountClient(process),
        clock,
        random,
        metrics: unreadMetrics(),
        log: klogger(process),
        instance: process.hostname,
        leaderElection: {
          namespace: process.namespace,
          name: `${name}-${driverName.replaceAll('.', '-')}`,
          identity: process.hostname,
          ...lease,
        },
      });
      for (const definition of controllers({ process, driver, driverName })) manager.add(definition);
      await manager.run(process.signal);
      return 0;
    });
}

/** A sidecar whose API objects are not simulated, so it only waits. */
export function waitingSideCar(): SimulatedProgram {
  return program(async (process) => {
    klog(process, 'I', 'main.go:141', `Version: v${versionInTag(process.image) ?? '0.0.0'}`);
    await untilStopped(process);
    return 0;
  });
}
