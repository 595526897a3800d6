import {
  type FieldError,
  fieldError,
  parseRfc3339,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { getRecord } from '../service/reads.ts';
import { checkNodeExists, chooseContainer, nodeOf } from './pod-location.ts';
import type { SubresourceHandler } from './types.ts';

export interface PodLogOptions {
  container: string;
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  tailLines?: number;
  /** not always whole seconds: a time to begin from is given in these terms as well */
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
    const options = parseLogQuery(query, target.name, context.clock.now());
    const container = chooseContainer(pod, query.get('container') ?? '');
    const node = nodeOf(pod);
    // A pod that nobody has placed yet has said nothing: an empty log, as kube-apiserver answers.
    if (node === '') return { type: 'text', text: '' };
    if (!source) {
      checkNodeExists(context, node);
      throw statusError.serviceUnavailable('this server runs no pods, so there are no logs to read');
    }
    return { type: 'text', text: source(pod, { container, signal: caller.signal, ...options }) };
  };
}

function parseLogQuery(
  query: URLSearchParams,
  podName: string,
  nowMs: number,
): Omit<PodLogOptions, 'container' | 'signal'> {
  const flag = (name: string): boolean => query.get(name) === 'true' || query.get(name) === '1';
  const refuse = (error: FieldError): Error => statusError.invalid('', 'PodLogOptions', podName, [error]);
  const number = (name: string, least: number): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '') return undefined;
    const value = Number(text);
    if (Number.isInteger(value) && value >= least) return value;
    throw refuse(fieldError.invalid(name, value, `must be greater than ${least === 0 ? 'or equal to 0' : '0'}`));
  };
  const tailLines = number('tailLines', 0);
  const limitBytes = number('limitBytes', 1);
  const sinceTime = query.get('sinceTime') ?? '';
  let sinceSeconds = number('sinceSeconds', 1);
  if (sinceTime !== '') {
    if (sinceSeconds !== undefined) {
      throw refuse(fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
    }
    const timeMs = parseRfc3339(sinceTime);
    if (timeMs === undefined) throw statusError.badRequest(`parsing time "${sinceTime}": it is not a time of RFC 3339`);
    sinceSeconds = Math.max(0, (nowMs - timeMs) / 1000);
  }
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    ...(tailLines !== undefined && { tailLines }),
    ...(sinceSeconds !== undefined && { sinceSeconds }),
    ...(limitBytes !== undefined && { limitBytes }),
  };
}
