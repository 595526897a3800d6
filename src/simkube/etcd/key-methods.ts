import type { KeyRange } from './access.ts';
import { agreed, type EtcdCall, type EtcdEndpoint, header, type Method } from './endpoint.ts';
import { EtcdError, grpcCode } from './errors.ts';
import type { EtcdEntry } from './keys.ts';
import { type Fields, numberOf, textsOf, writeFields } from './protobuf.ts';

function rangeOf(request: Fields, keyField: number, endField: number): KeyRange {
  return { from: textsOf(request, keyField).at(-1) ?? '', to: textsOf(request, endField).at(-1) ?? '' };
}

/** For permissions, a single key is a range that contains only this key. */
function asRange({ from, to }: KeyRange): KeyRange {
  return to === '' ? { from, to: `${from}\0` } : { from, to };
}

function refuseLearner({ cluster, memberId }: EtcdEndpoint): void {
  if (!cluster.member(memberId)?.isLearner) return;
  throw new EtcdError(grpcCode.unavailable, 'etcdserver: rpc not supported for learner');
}

function entryMessage({ key, value, revision, createRevision }: EtcdEntry, keysOnly: boolean): Buffer {
  return writeFields({ 1: key, 2: createRevision, 3: revision, 4: 1, 5: keysOnly ? '' : value });
}

function writable({ endpoint, user }: EtcdCall, range: KeyRange): void {
  agreed(endpoint);
  refuseLearner(endpoint);
  endpoint.cluster.access.check(user, asRange(range), 'write');
}

/** Reads, writes and deletes keys. */
export const keyMethods: Readonly<Record<string, Method>> = {
  async '/etcdserverpb.KV/Range'({ endpoint, user }, request) {
    const isSerializable = numberOf(request, 7) !== 0n;
    if (!isSerializable) agreed(endpoint);
    refuseLearner(endpoint);
    const range = rangeOf(request, 1, 2);
    endpoint.cluster.access.check(user, asRange(range), 'read');
    const countOnly = numberOf(request, 9) !== 0n;
    const limit = Number(numberOf(request, 3));
    const { entries, count } = await endpoint.data.range(range, limit);
    const shown = countOnly ? [] : entries.map((entry) => entryMessage(entry, numberOf(request, 8) !== 0n));
    return writeFields({ 1: header(endpoint), 2: shown, 3: !countOnly && count > entries.length, 4: count });
  },
  async '/etcdserverpb.KV/Put'(call, request) {
    const { endpoint } = call;
    const [key = ''] = textsOf(request, 1);
    writable(call, { from: key, to: '' });
    try {
      await endpoint.data.put(key, textsOf(request, 2).at(-1) ?? '');
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // Only Kubernetes objects can be stored.
      throw new EtcdError(grpcCode.invalidArgument, `the simulated etcd keeps objects only: ${error.message}`);
    }
    return writeFields({ 1: header(endpoint) });
  },
  async '/etcdserverpb.KV/DeleteRange'(call, request) {
    const range = rangeOf(request, 1, 2);
    writable(call, range);
    const deleted = await call.endpoint.data.deleteRange(range);
    return writeFields({ 1: header(call.endpoint), 2: deleted });
  },
  '/etcdserverpb.KV/Compact'({ endpoint }) {
    agreed(endpoint);
    return writeFields({ 1: header(endpoint) });
  },
};
