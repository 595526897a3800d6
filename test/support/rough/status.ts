import type { WireAnswer } from './wire.ts';

/** Returns what is wrong with a refusal as a Kubernetes `Status`, or undefined. */
export function statusProblem(answer: WireAnswer, method: string): string | undefined {
  if (method === 'HEAD') return undefined;
  const type = String(answer.headers['content-type'] ?? '');
  // kube-apiserver answers paths outside of any API in plain text.
  if (answer.status === 404 && answer.body.toString() === '404 page not found\n') return undefined;
  if (!type.startsWith('application/json')) return `answer ${answer.status} has content type "${type}"`;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(answer.body.toString('utf8')) as Record<string, unknown>;
  } catch {
    return `answer ${answer.status} is not JSON`;
  }
  if (value['kind'] !== 'Status' || value['apiVersion'] !== 'v1') return `answer ${answer.status} is no v1 Status`;
  if (value['status'] !== 'Failure') return `answer ${answer.status} says status ${String(value['status'])}`;
  if (value['code'] !== answer.status) return `answer ${answer.status} says code ${String(value['code'])}`;
  if (typeof value['reason'] !== 'string' || value['reason'] === '') return `answer ${answer.status} has no reason`;
  if (typeof value['message'] !== 'string' || value['message'] === '') return `answer ${answer.status} has no message`;
  return undefined;
}
