import { ConfigMaps, Nodes } from '../../../../api/index.ts';
import { errorMessage } from '../../../../machinery/index.ts';
import { httpService } from '../../../http-service.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../../process.ts';
import { answerHealth } from '../../components/controller-manager.ts';
import { ProgramFailure } from '../../failure.ts';
import { versionInTag } from '../../image.ts';
import type { SimulatedKubernetes } from '../../kubernetes.ts';
import { between, program, untilStopped } from '../../running.ts';
import { serviceAccountClient } from '../service-account.ts';

const configDirectory = '/tmp/cilium/config-map';
const usualConfig = '/host/etc/cni/net.d/05-cilium.conflist';
const healthPort = 9879;
const retryMs = 2_000;

/** cilium-dbg build-config: writes the agent's ConfigMap to files. */
export function ciliumConfigProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process) => {
    if (process.argv[1] !== 'build-config') {
      throw new ProgramFailure(`Error: unknown command "${process.argv[1] ?? ''}" for "cilium-dbg"`);
    }
    const namespace = process.env['CILIUM_K8S_NAMESPACE'] || process.namespace;
    try {
      const config = await serviceAccountClient(process).get(ConfigMaps, { namespace, name: 'cilium-config' });
      for (const [key, value] of Object.entries(config.data ?? {}))
        process.files.write(`${configDirectory}/${key}`, value);
      say(process, 'info', `Reading configuration from config-map:${namespace}/cilium-config`);
    } catch (error) {
      if (process.signal.aborted) throw error;
      throw new ProgramFailure(`Build config failed: failed to start: ${errorMessage(error)}`);
    }
    return 0;
  });
}

/** The agent: sets up the Pod network of its node once the node exists in the API. */
export function ciliumAgentProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const directory = process.argv.find((word) => word.startsWith('--config-dir='))?.slice('--config-dir='.length);
    if (directory === undefined || process.files.list(`${directory}/`).length === 0) {
      say(process, 'fatal', `Non-existent configuration directory ${directory ?? ''}`);
      return 1;
    }
    say(process, 'info', `Cilium ${versionInTag(process.image) ?? ''} starting`);
    const client = serviceAccountClient(process);
    const name = process.env['K8S_NODE_NAME'] ?? '';
    for (let said = ''; ; ) {
      try {
        await client.get(Nodes, { name });
        break;
      } catch (error) {
        if (process.signal.aborted) throw error;
        const reason = errorMessage(error);
        if (reason !== said) say(process, 'warning', `Waiting for k8s node information: ${reason}`);
        said = reason;
      }
      await process.pass(retryMs);
    }
    await process.pass(between(process, 500, 1_500));
    const file = process.files.read(`${directory}/write-cni-conf-when-ready`) || usualConfig;
    process.files.write(file, cniConfig);
    say(process, 'info', `Wrote CNI configuration file to ${file}`);
    closing.add(process.listen(healthPort, httpService(answerHealth)));
    say(process, 'info', 'Daemon initialization completed');
    await untilStopped(process);
    return 0;
  });
}

/** Uninstall step of the agent: the node loses its network. */
export function ciliumUninstallProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async ({ files }) => {
    files.remove(usualConfig);
    return 0;
  });
}

/** Installs the CNI plugin where the container runtime finds it. */
export function ciliumInstallProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process) => {
    process.files.write('/host/opt/cni/bin/cilium-cni', '#!simulated cilium-cni\n', 0o755);
    process.log('Installing cilium-cni to /host/opt/cni/bin/ ...');
    process.log('wrote /host/opt/cni/bin/cilium-cni');
    return 0;
  });
}

/** Envoy beside the agent. It only answers health checks, because layer 7 is not simulated. */
export function ciliumEnvoyProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    closing.add(process.listen(9878, httpService(answerHealth)));
    closing.add(
      process.listen(
        9964,
        httpService(() => ({ status: 200, body: '' })),
      ),
    );
    process.log('[info][main] [external/envoy/source/server/server.cc] starting main dispatch loop');
    await untilStopped(process);
    return 0;
  });
}

const cniConfig = `{
  "cniVersion": "0.3.1",
  "name": "cilium",
  "plugins": [{ "type": "cilium-cni", "enable-debug": false, "log-file": "/var/run/cilium/cilium-cni.log" }]
}
`;

function say(process: SimulatedProcess, level: string, message: string): void {
  const time = new Date(process.clock.now()).toISOString();
  process.log(`time=${time} level=${level} msg="${message.replaceAll('"', '\\"')}"`);
}
