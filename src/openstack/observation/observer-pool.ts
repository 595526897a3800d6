import { createHash } from 'node:crypto';
import type { CloudConfig } from '../config/cloud-config.ts';
import type { OpenStack } from '../openstack.ts';
import { sessionKey } from '../session-pool.ts';
import { createObserver, type Observer, type ObserverOptions } from './observer.ts';
import { createPace, type Pace } from './pace.ts';
import { observedTypes } from './types.ts';

/** Shares one observer between all users of the same project and credential, and one request rate per cloud. */
export interface ObserverPool {
  observer(cloud: OpenStack): Observer;
  close(): void;
}

export interface ObserverPoolOptions extends Omit<ObserverOptions, 'pace'> {
  /** average routine requests per second and cloud; default 1 */
  readonly requestsPerSecond?: number;
  /** maximum number of unused observers to keep; default 256 */
  readonly maxIdle?: number;
}

export function createObserverPool(options: ObserverPoolOptions = {}): ObserverPool {
  const { requestsPerSecond = 1, maxIdle = 256, ...observerOptions } = options;
  const observers = new Map<string, Observer>();
  const paces = new Map<string, Pace>();
  const paceFor = ({ authUrl }: CloudConfig): Pace => {
    const { origin } = new URL(authUrl);
    let pace = paces.get(origin);
    if (!pace) {
      pace = createPace(requestsPerSecond);
      paces.set(origin, pace);
    }
    return pace;
  };
  return {
    observer(cloud) {
      const key = observationKey(cloud.config);
      let observer = observers.get(key);
      if (!observer) {
        if (observers.size >= maxIdle) dropIdle(observers);
        observer = createObserver(cloud, { ...observerOptions, pace: paceFor(cloud.config) });
        observers.set(key, observer);
      }
      return observer;
    },
    close() {
      for (const observer of observers.values()) observer.close();
      observers.clear();
    },
  };
}

/** The name and origin of a configuration do not affect what is observed. */
function observationKey(config: CloudConfig): string {
  const { region, interfaces, services } = config;
  return createHash('sha256')
    .update(JSON.stringify([sessionKey(config), region, interfaces, services]))
    .digest('base64url');
}

function dropIdle(observers: Map<string, Observer>): void {
  for (const [key, observer] of observers) {
    if (observedTypes.every((type) => !observer.health(type).observing)) observers.delete(key);
  }
}
