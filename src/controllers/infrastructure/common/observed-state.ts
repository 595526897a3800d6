import type { ObservedType, Observer } from '../../../openstack/index.ts';

/** An observer that also remembers missing resources while they are followed. */
export interface ObservedState extends Observer {
  /** true if the resource was looked up and does not exist; false if not looked up yet */
  isGone(type: ObservedType, id: string): boolean;
}

const observedStates = new WeakMap<Observer, ObservedState>();

const isObservedState = (observer: Observer): observer is ObservedState => 'isGone' in observer;

/** Returns the one observed state of an observer. */
export function observedStateOf(observer: Observer): ObservedState {
  if (isObservedState(observer)) return observer;
  let observedState = observedStates.get(observer);
  if (!observedState) {
    observedState = watchForLosses(observer);
    observedStates.set(observer, observedState);
  }
  return observedState;
}

function watchForLosses(observer: Observer): ObservedState {
  /** by type and id: whether it is gone, and the number of followers */
  const followed = new Map<string, { gone: boolean; followers: number }>();
  return {
    ...observer,
    subscribe(type, listener, options = {}) {
      const { id } = options;
      if (id === undefined) return observer.subscribe(type, listener);
      const key = `${type}/${id}`;
      const state = followed.get(key) ?? { gone: false, followers: 0 };
      state.followers++;
      followed.set(key, state);
      const stop = observer.subscribe(
        type,
        (change) => {
          state.gone = change.change === 'removed';
          listener(change);
        },
        options,
      );
      let following = true;
      return () => {
        if (!following) return;
        following = false;
        stop();
        if (--state.followers === 0) followed.delete(key);
      };
    },
    isGone: (type, id) => followed.get(`${type}/${id}`)?.gone === true,
  };
}
