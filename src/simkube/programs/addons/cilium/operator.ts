import { type Node, Nodes, type Pod, Pods } from '../../../../api/index.ts';
import { asJson } from '../../../../machinery/index.ts';
import {
  type ControllerDefinition,
  createManager,
  defineController,
  done,
  watchMapped,
  watchObjects,
} from '../../../../runtime/index.ts';
import { unreadMetrics } from '../../../controllers/unread-metrics.ts';
import { httpService } from '../../../http-service.ts';
import type { SimulatedProgram } from '../../../process.ts';
import { answerHealth } from '../../components/controller-manager.ts';
import type { SimulatedKubernetes } from '../../kubernetes.ts';
import { program } from '../../running.ts';
import { klogger } from '../klogger.ts';
import { serviceAccountClient } from '../service-account.ts';

const taintKey = 'node.cilium.io/agent-not-ready';
const fieldManager = 'cilium-operator-generic';
const lease = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 10_000 };

/** The operator: removes the taint from nodes whose agent is ready. The taint keeps Pods away until then. */
export function ciliumOperatorProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { clock, random } = process;
    const namespace = process.env['CILIUM_K8S_NAMESPACE'] || process.namespace;
    closing.add(process.listen(9234, httpService(answerHealth)));
    closing.add(
      process.listen(
        9963,
        httpService(() => ({ status: 200, body: '' })),
      ),
    );
    const manager = createManager({
      client: serviceAccountClient(process),
      clock,
      random,
      metrics: unreadMetrics(),
      log: klogger(process),
      instance: process.hostname,
      leaderElection: {
        namespace,
        name: 'cilium-operator-resource-lock',
        identity: `${process.hostname}-${random.uuid()}`,
        ...lease,
      },
    });
    manager.add(taintController(namespace));
    await manager.run(process.signal);
    return 0;
  });
}

function taintController(namespace: string): ControllerDefinition {
  return defineController({
    name: 'cilium-node-taints',
    for: Nodes,
    watches: [
      watchObjects(Nodes),
      watchMapped(Pods, (pod) => (isAgent(pod, namespace) && pod.spec.nodeName ? [{ name: pod.spec.nodeName }] : [])),
    ],
    async reconcile({ client, cache }, { name }) {
      const node = cache.lister(Nodes).get({ name });
      if (!node || !isTainted(node)) return done();
      const agents = cache.lister(Pods).list({
        filter: (pod) => isAgent(pod, namespace) && pod.spec.nodeName === name && isReady(pod),
      });
      if (agents.length === 0) return done();
      const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== taintKey);
      const spec = { taints: taints.length === 0 ? null : asJson(taints) };
      await client.patch(Nodes, { name }, 'merge', { spec }, { fieldManager });
      return done();
    },
  });
}

function isTainted({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === taintKey) ?? false;
}

function isAgent({ metadata }: Pod, namespace: string): boolean {
  return metadata.namespace === namespace && metadata.labels?.['k8s-app'] === 'cilium';
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}
