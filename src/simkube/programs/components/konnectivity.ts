import { httpService } from '../../http-service.ts';
import type { SimulatedProgram } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { cobraTable, flagValue, names, parseFlags } from '../flags.ts';
import { klog } from '../klog.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import { between, program, requiredFile, untilStopped } from '../running.ts';
import { answerHealth } from './controller-manager.ts';

const table = cobraTable(
  names(`
    admin-bind-address admin-port agent-bind-address agent-namespace agent-port agent-service-account
    authentication-audience cipher-suites cluster-ca-cert cluster-cert cluster-key frontend-keepalive-time
    grpc-max-connection-age grpc-max-idle-time health-bind-address health-port keepalive-time kubeconfig kubeconfig-burst
    kubeconfig-qps lease-label lease-namespace logging-format mode proxy-strategies server-bind-address server-ca-cert
    server-cert server-count server-id server-key server-port uds-name v vmodule xfr-channel-size`),
  names(`
    delete-existing-uds-file enable-contention-profiling enable-lease-controller enable-profiling logtostderr
    alsologtostderr need-tls`),
);

/** The konnectivity server: node agents connect to its port, the API server to its socket. */
export function konnectivityServerProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { argv } = process;
    const { flags } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), table);
    for (const name of ['cluster-cert', 'cluster-key', 'cluster-ca-cert', 'server-cert', 'server-key', 'kubeconfig']) {
      const path = flagValue(flags, name);
      if (path) requiredFile(process, path, (reason) => new ProgramFailure(`Error: failed to load ${name}: ${reason}`));
    }
    await process.pass(between(process, 50, 150));
    const socket = flagValue(flags, 'uds-name');
    if (socket) closing.add(kubernetes.listenLocally(process, socket, localOnly()));
    closing.add(process.listen(Number(flagValue(flags, 'agent-port') ?? 8091), localOnly()));
    closing.add(process.listen(Number(flagValue(flags, 'health-port') ?? 8092), httpService(answerHealth)));
    klog(process, 'I', 'main.go:145', 'Started konnectivity server');
    await untilStopped(process);
    return 0;
  });
}
