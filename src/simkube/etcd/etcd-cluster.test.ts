import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufError, seededRandom } from '../../machinery/index.ts';
import { EtcdCluster } from './etcd-cluster.ts';
import { numberOf, readFields, textsOf, writeFields } from './protobuf.ts';

const facts = (name: string) => ({ name, clientUrls: [`https://${name}:2379`] });

function cluster(size: number): { etcd: EtcdCluster; ids: string[] } {
  const etcd = new EtcdCluster({ random: seededRandom(3) });
  const first = etcd.found({ name: 'm0', peerUrls: ['https://m0:2380'], clientUrls: [] });
  etcd.start(first.id, facts('m0'));
  const ids = [first.id];
  for (let index = 1; index < size; index++) {
    const { id } = etcd.add([`https://m${index}:2380`], { isLearner: true });
    etcd.start(id, facts(`m${index}`));
    etcd.promote(id);
    ids.push(id);
  }
  return { etcd, ids };
}

describe('an etcd cluster', () => {
  it.each([
    [1, 0],
    [3, 1],
    [5, 2],
  ])('of %d members survives the loss of %d and no more', (size, spare) => {
    const { etcd, ids } = cluster(size);
    for (const id of ids.slice(0, spare)) etcd.stop(id);
    expect(etcd.hasQuorum).toBe(true);
    expect(etcd.leaderId).toBe(ids[spare]);
    etcd.stop(ids[spare]!);
    expect(etcd.hasQuorum).toBe(false);
    expect(etcd.leaderId).toBeUndefined();
    expect(() => etcd.remove(ids[0]!)).toThrow('etcdserver: request timed out');
  });

  it('counts a learner only after its promotion, which needs it to run', () => {
    const { etcd } = cluster(1);
    const { id } = etcd.add(['https://new:2380'], { isLearner: true });
    expect(etcd.hasQuorum).toBe(true);
    expect(() => etcd.add(['https://other:2380'], { isLearner: true })).toThrow('too many learner members');
    expect(() => etcd.promote(id)).toThrow('in sync with leader');
    etcd.start(id, facts('new'));
    etcd.promote(id);
    expect(() => etcd.promote(id)).toThrow('can only promote a learner member');
    etcd.stop(id);
    expect(etcd.hasQuorum).toBe(false);
  });

  it('keeps members that are down until they are removed and never takes them back', () => {
    const { etcd, ids } = cluster(3);
    etcd.stop(ids[2]!);
    expect(etcd.members).toHaveLength(3);
    etcd.remove(ids[2]!);
    expect(etcd.members).toHaveLength(2);
    expect(etcd.start(ids[2]!, facts('m2'))).toBe(false);
  });

  it('refuses to remove a member when the rest could not agree', () => {
    const { etcd, ids } = cluster(3);
    etcd.stop(ids[2]!);
    expect(() => etcd.remove(ids[1]!)).toThrow('not enough started members');
  });

  it('moves leadership only by the leader and only to a running voter', () => {
    const { etcd, ids } = cluster(3);
    const [leader, second, third] = ids as [string, string, string];
    expect(() => etcd.moveLeader(second, third)).toThrow('not leader');
    etcd.stop(third);
    expect(() => etcd.moveLeader(leader, third)).toThrow('bad leader transferee');
    const { term } = etcd;
    etcd.moveLeader(leader, second);
    expect(etcd.leaderId).toBe(second);
    expect(etcd.term).toBe(term + 1);
  });

  it('continues from a saved snapshot', () => {
    const { etcd, ids } = cluster(3);
    const again = new EtcdCluster({ random: seededRandom(4), snapshot: etcd.snapshot() });
    expect(again.hasQuorum).toBe(false);
    for (const [index, id] of ids.entries()) again.start(id, facts(`m${index}`));
    expect(again.members).toEqual(etcd.members);
  });
});

describe('etcd messages', () => {
  it('decode to what was encoded', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.array(fc.string()), (number, texts) => {
        const fields = readFields(writeFields({ 1: number, 3: texts }));
        expect(numberOf(fields, 1)).toBe(number);
        expect(textsOf(fields, 3)).toEqual(texts);
      }),
    );
  });

  it('are refused when they are cut short', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          readFields(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
    );
    expect(() => readFields(Buffer.from([0x0a, 0x05, 0x01]))).toThrow('ends too early');
  });
});
