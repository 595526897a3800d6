import { isJsonObject, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import { getRecord } from '../service/reads.ts';
import type { SubresourceHandler } from './types.ts';

export interface PodLogOptions {
  container: string;
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  limitBytes?: number;
  signal: AbortSignal;
}

/** Whoever runs the pods gives their logs. */
export type PodLogSource = (pod: UnstructuredObject, options: PodLogOptions) => AsyncIterable<string>;

/** GET pods/x/log */
export function podLogHandler(source: PodLogSource | undefined): SubresourceHandler {
  return async ({ context, target, caller, query }) => {
    const pod = await target.resource.fromRecord(await getRecord(context, target, caller, {}));
    const container = chooseContainer(pod, query.get('container') ?? '');
    const spec = isJsonObject(pod.spec) ? pod.spec : {};
    // A pod that nobody has placed yet has said nothing: an empty log, as kube-apiserver answers.
    if (typeof spec['nodeName'] !== 'string' || spec['nodeName'] === '') return { type: 'text', text: '' };
    if (!source) throw statusError.serviceUnavailable('this server runs no pods, so there are no logs to read');
    return { type: 'text', text: source(pod, { container, signal: caller.signal, ...parseLogQuery(query) }) };
  };
}

function chooseContainer(pod: UnstructuredObject, asked: string): string {
  const spec = isJsonObject(pod.spec) ? pod.spec : {};
  const names = [spec['initContainers'], spec['containers'], spec['ephemeralContainers']]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((container) => (isJsonObject(container) ? String(container['name']) : ''));
  if (asked !== '') {
    if (names.includes(asked)) return asked;
    throw statusError.badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`);
  }
  const byAnnotation = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (byAnnotation !== undefined && names.includes(byAnnotation)) return byAnnotation;
  if (names.length === 1) return names[0]!;
  throw statusError.badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]`,
  );
}

function parseLogQuery(query: URLSearchParams): Omit<PodLogOptions, 'container' | 'signal'> {
  const flag = (name: string): boolean => query.get(name) === 'true' || query.get(name) === '1';
  const number = (name: string): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '') return undefined;
    const value = Number(text);
    if (Number.isInteger(value) && value >= 0) return value;
    throw statusError.invalid('', 'PodLogOptions', '', [
      { type: 'Invalid', field: name, value: text, detail: 'must be greater than or equal to 0' },
    ]);
  };
  const tailLines = number('tailLines');
  const sinceSeconds = number('sinceSeconds');
  const limitBytes = number('limitBytes');
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    ...(tailLines !== undefined && { tailLines }),
    ...(sinceSeconds !== undefined && { sinceSeconds }),
    ...(limitBytes !== undefined && { limitBytes }),
  };
}
