import { type Node, Nodes, type Pod, Pods } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { errorMessage, formatTime } from '../../../../machinery/index.ts';
import { httpService } from '../../../http-service.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../../process.ts';
import type { HttpAnswer } from '../../../types.ts';
import { answerHealth } from '../../components/controller-manager.ts';
import { cobraTable, flagValue, names, parseFlags } from '../../flags.ts';
import { klog } from '../../klog.ts';
import type { SimulatedKubernetes } from '../../kubernetes.ts';
import { program, untilStopped } from '../../running.ts';
import { serviceAccountClient } from '../service-account.ts';
import { parseResourceMetrics, type Usage } from './parse.ts';

const flagTable = cobraTable(
  names(`
    secure-port cert-dir kubelet-preferred-address-types metric-resolution tls-cert-file tls-private-key-file v
    authorization-always-allow-paths kubelet-port kubelet-certificate-authority requestheader-client-ca-file
    tls-cipher-suites tls-min-version logging-format kubelet-request-timeout`),
  names('kubelet-insecure-tls kubelet-use-node-status-port profiling'),
);
const base = '/apis/metrics.k8s.io/v1beta1';
const kubeletPort = 10250;
const windowSeconds = 15;

/** metrics-server: reads node and Pod usage from kubelets, and serves metrics.k8s.io. */
export function metricsServerProgram(_kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { flags } = parseFlags(process.argv.slice(1), flagTable);
    const client = serviceAccountClient(process);
    const port = Number(flagValue(flags, 'secure-port') ?? kubeletPort);
    const answer = async (path: string): Promise<HttpAnswer> => {
      if (!path.startsWith(base)) return answerHealth(path);
      try {
        return await metrics(process, client, path.slice(base.length));
      } catch (error) {
        klog(process, 'E', 'scraper.go:149', `"Failed to answer" err="${errorMessage(error)}"`);
        return failure(500, 'InternalError', errorMessage(error));
      }
    };
    closing.add(process.listen(port, httpService(answer)));
    klog(process, 'I', 'secure_serving.go:213', `Serving securely on [::]:${port}`);
    await untilStopped(process);
    return 0;
  });
}

async function metrics(process: SimulatedProcess, client: Client, rest: string): Promise<HttpAnswer> {
  const [path = '', query = ''] = rest.split('?');
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0) return json(discovery);
  const selector = new URLSearchParams(query).get('labelSelector') ?? '';
  if (parts[0] === 'nodes') return await nodeMetrics(process, client, parts[1], selector);
  if (parts[0] === 'pods' && parts.length === 1)
    return await podMetrics(process, client, undefined, undefined, selector);
  if (parts[0] === 'namespaces' && parts[2] === 'pods') {
    return await podMetrics(process, client, parts[1], parts[3], selector);
  }
  return failure(404, 'NotFound', 'the server could not find the requested resource');
}

async function nodeMetrics(
  process: SimulatedProcess,
  client: Client,
  name: string | undefined,
  labelSelector: string,
): Promise<HttpAnswer> {
  const { items } = await client.list(Nodes, labelSelector === '' ? {} : { labelSelector });
  const found = items.filter(({ metadata }) => name === undefined || metadata.name === name);
  const measured = [];
  for (const node of found) {
    const usage = (await scrape(process, node))?.node;
    if (usage) measured.push({ ...head(process, 'NodeMetrics', node), usage: quantities(usage) });
  }
  if (name === undefined) return json({ kind: 'NodeMetricsList', apiVersion, metadata: {}, items: measured });
  return measured[0] ? json(measured[0]) : failure(404, 'NotFound', `nodemetrics.metrics.k8s.io "${name}" not found`);
}

async function podMetrics(
  process: SimulatedProcess,
  client: Client,
  namespace: string | undefined,
  name: string | undefined,
  labelSelector: string,
): Promise<HttpAnswer> {
  const nodes = await client.list(Nodes);
  const pods = await client.list(Pods, {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== '' && { labelSelector }),
  });
  const usages = new Map<string, Usage>();
  for (const node of nodes.items) {
    for (const [key, usage] of (await scrape(process, node))?.containers ?? []) usages.set(key, usage);
  }
  const measured = [];
  for (const pod of pods.items) {
    if (name !== undefined && pod.metadata.name !== name) continue;
    const containers = pod.spec.containers.flatMap((container) => {
      const usage = usages.get(`${pod.metadata.namespace}/${pod.metadata.name}/${container.name}`);
      return usage ? [{ name: container.name, usage: quantities(usage) }] : [];
    });
    if (containers.length > 0) measured.push({ ...head(process, 'PodMetrics', pod), containers });
  }
  if (name === undefined) return json({ kind: 'PodMetricsList', apiVersion, metadata: {}, items: measured });
  return measured[0] ? json(measured[0]) : failure(404, 'NotFound', `podmetrics.metrics.k8s.io "${name}" not found`);
}

/** Reads the metrics of a kubelet; undefined if it is unreachable. */
async function scrape(
  process: SimulatedProcess,
  node: Node,
): Promise<ReturnType<typeof parseResourceMetrics> | undefined> {
  const address = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
  try {
    const answer = await process.dial(address, kubeletPort).get?.('/metrics/resource');
    if (answer?.status !== 200) throw new Error(`request failed, status: ${answer?.status ?? 'none'}`);
    return parseResourceMetrics(answer.body, process.clock.now());
  } catch (error) {
    const url = `https://${address}:${kubeletPort}/metrics/resource`;
    const { name } = node.metadata;
    klog(
      process,
      'E',
      'scraper.go:149',
      `"Failed to scrape node" err="Get \\"${url}\\": ${errorMessage(error)}" node="${name}"`,
    );
    return undefined;
  }
}

const apiVersion = 'metrics.k8s.io/v1beta1';

function head(process: SimulatedProcess, kind: string, { metadata }: Node | Pod): object {
  const now = process.clock.now();
  const { name, namespace, labels } = metadata;
  return {
    kind,
    apiVersion,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      creationTimestamp: formatTime(now),
      ...(labels && { labels }),
    },
    timestamp: formatTime(now),
    window: `${windowSeconds}s`,
  };
}

function quantities({ cores, bytes }: Usage): { cpu: string; memory: string } {
  return { cpu: `${Math.round(cores * 1e9)}n`, memory: `${Math.round(bytes / 1024)}Ki` };
}

const discovery = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: apiVersion,
  resources: [
    { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
    { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
  ],
};

function json(value: object): HttpAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

function failure(code: number, reason: string, message: string): HttpAnswer {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return { status: code, body: JSON.stringify(status) };
}
