import { describe, expect, it } from 'vitest';
import type { ObjectKey } from '../../../client/index.ts';
import type { ObservedType, Observer } from '../../../openstack/index.ts';
import { createAttention } from './attention.ts';

/** Builds an observer that records subscriptions and notifies them on demand. */
function observer() {
  const listeners = new Map<string, Set<() => void>>();
  const closely: string[] = [];
  const fake = {
    subscribe(type: ObservedType, listener: () => void, { id }: { id: string }) {
      const name = `${type}/${id}`;
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0) listeners.delete(name);
      };
    },
    watchClosely(type: ObservedType, id: string) {
      closely.push(`${type}/${id}`);
      return () => void closely.splice(closely.indexOf(`${type}/${id}`), 1);
    },
  };
  return {
    observer: fake as Observer,
    closely,
    followed: () => [...listeners.keys()].sort(),
    change: (name: string) => {
      for (const listener of [...(listeners.get(name) ?? [])]) listener();
    },
  };
}

function started() {
  const attention = createAttention();
  const woken: string[] = [];
  const stop = new AbortController();
  void attention.source.start({
    enqueue: ({ name }: ObjectKey) => void woken.push(name),
    enqueuePatiently: () => {},
    signal: stop.signal,
  });
  return { attention, woken, stop };
}

const a = { namespace: 'n', name: 'a' };
const b = { namespace: 'n', name: 'b' };

describe('attention to cloud resources', () => {
  it('wakes only the objects that depend on a changed resource', () => {
    const { attention, woken } = started();
    const cloud = observer();
    attention.follow(a, cloud.observer, [{ type: 'port', id: '1' }]);
    attention.follow(b, cloud.observer, [
      { type: 'port', id: '2' },
      { type: 'network', id: '1' },
    ]);
    cloud.change('port/1');
    cloud.change('network/1');
    expect(woken).toEqual(['a', 'b']);
  });

  it('unfollows resources that are no longer named, and keeps the others', () => {
    const { attention } = started();
    const cloud = observer();
    attention.follow(a, cloud.observer, [
      { type: 'port', id: '1' },
      { type: 'port', id: '2', closely: true },
    ]);
    attention.also(a, cloud.observer, { type: 'port', id: '3' });
    expect(cloud.followed()).toEqual(['port/1', 'port/2', 'port/3']);
    expect(cloud.closely).toEqual(['port/2']);
    attention.follow(a, cloud.observer, [{ type: 'port', id: '2' }]);
    expect(cloud.followed()).toEqual(['port/2']);
    expect(cloud.closely).toEqual([]);
    attention.forget(a);
    expect(cloud.followed()).toEqual([]);
  });

  it('moves to another observer when the credentials change', () => {
    const { attention } = started();
    const [old, next] = [observer(), observer()];
    attention.follow(a, old.observer, [{ type: 'port', id: '1' }]);
    attention.follow(a, next.observer, [{ type: 'port', id: '1' }]);
    expect(old.followed()).toEqual([]);
    expect(next.followed()).toEqual(['port/1']);
  });

  it('ends with its controller, and follows nothing afterwards', () => {
    const { attention, woken, stop } = started();
    const cloud = observer();
    attention.follow(a, cloud.observer, [{ type: 'port', id: '1' }]);
    stop.abort();
    expect(cloud.followed()).toEqual([]);
    attention.follow(a, cloud.observer, [{ type: 'port', id: '1' }]);
    attention.also(a, cloud.observer, { type: 'port', id: '2' });
    expect(cloud.followed()).toEqual([]);
    expect(woken).toEqual([]);
  });
});
