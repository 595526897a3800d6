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
  sinceSeconds?: number;
  /** in milliseconds */
  sinceTime?: number;
  limitBytes?: number;
  signal: AbortSignal;
}

export type PodLogSource = (pod: UnstructuredObject, options: PodLogOptions) => AsyncIterable<string>;

/** GET pods/x/log */
export function podLogHandler(source: PodLogSource | undefined): SubresourceHandler {
  return async ({ context, target, caller, query }) => {
    const pod = await target.resource.fromRecord(await getRecord(context, target, caller, {}));
    const options = parseLogQuery(query, target.name);
    const container = chooseContainer(pod, query.get('container') ?? '');
    const node = nodeOf(pod);
    // An unscheduled pod has an empty log, as in kube-apiserver.
    if (node === '') return { type: 'text', text: '' };
    if (!source) {
      checkNodeExists(context, node);
      throw statusError.serviceUnavailable('this server runs no pods, so there are no logs to read');
    }
    return { type: 'text', text: source(pod, { container, signal: caller.signal, ...options }) };
  };
}

/** Parses the log options of a query; throws for invalid ones. */
export function parseLogQuery(query: URLSearchParams, podName: string): Omit<PodLogOptions, 'container' | 'signal'> {
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
  const sinceSeconds = number('sinceSeconds', 1);
  const sinceText = query.get('sinceTime');
  const sinceTime = sinceText ? parseRfc3339(sinceText) : undefined;
  if (sinceText && sinceTime === undefined) {
    throw statusError.badRequest(`parsing time "${sinceText}": it is not a time of RFC 3339`);
  }
  if (sinceTime !== undefined && sinceSeconds !== undefined) {
    throw refuse(fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  }
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    ...(tailLines !== undefined && { tailLines }),
    ...(sinceSeconds !== undefined && { sinceSeconds }),
    ...(sinceTime !== undefined && { sinceTime }),
    ...(limitBytes !== undefined && { limitBytes }),
  };
}
