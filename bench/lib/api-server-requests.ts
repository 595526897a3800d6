import type { HttpClient } from '../../src/client/index.ts';

/** Requests answered by an API server, by verb, for all clients. */
export type AnsweredRequests = ReadonlyMap<string, number>;

const writingVerbs: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION']);

/** Reads `apiserver_request_total` of kube-apiserver. Watches are excluded, because they count only when they end. */
export async function answeredRequests(client: HttpClient): Promise<AnsweredRequests> {
  const { body } = await client.raw('/metrics', { accept: 'text/plain' });
  const counts = new Map<string, number>();
  for (const [, labels = '', count = '0'] of body.matchAll(/^apiserver_request_total\{([^}]*)\} (\S+)$/gm)) {
    const verb = /verb="([A-Z]+)"/.exec(labels)?.[1] ?? '';
    const isHealth = /subresource="\/(livez|readyz|healthz|metrics)/.test(labels);
    if (verb === 'WATCH' || isHealth) continue;
    counts.set(verb, (counts.get(verb) ?? 0) + Number(count));
  }
  return counts;
}

/** Returns the number of requests between two readings, in total and for writes. */
export function requestsBetween(before: AnsweredRequests, after: AnsweredRequests): { all: number; writes: number } {
  let all = 0;
  let writes = 0;
  for (const [verb, count] of after) {
    const more = count - (before.get(verb) ?? 0);
    all += more;
    if (writingVerbs.has(verb)) writes += more;
  }
  return { all, writes };
}
