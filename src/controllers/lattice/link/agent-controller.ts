import { LatticeClusters, type Secret, Secrets } from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import {
  after,
  type CacheReader,
  type ControllerDefinition,
  defineController,
  done,
  type ExternalSource,
  watchMapped,
} from '../../../runtime/index.ts';
import { readSecret } from '../../shared/index.ts';
import { parentAnnotation } from '../self/names.ts';
import { isInside } from '../self/stage.ts';
import { Agent, type AgentOptions } from './agent.ts';
import { agentCredentialsKey, parentConfigKey } from './names.ts';
import { configOf } from './parent-config.ts';

/** Connection from this cluster to its parent, if it has one. */
export interface ParentLink {
  readonly controller: ControllerDefinition;
  /** enqueues the LatticeCluster that reports the connection */
  readonly source: ExternalSource;
  readonly agent: Pick<Agent, 'verdict'>;
}

export function parentLink(cache: CacheReader, options: Omit<AgentOptions, 'onChange' | 'ownParent'>): ParentLink {
  const listeners = new Set<() => void>();
  const insides = () => cache.lister(LatticeClusters).list({ filter: isInside });
  const agent = new Agent({
    ...options,
    ownParent: () => insides()[0]?.metadata.annotations?.[parentAnnotation],
    onChange: () => {
      for (const listener of listeners) listener();
    },
  });
  const listen = (wake: () => void, signal: AbortSignal): void => {
    listeners.add(wake);
    signal.addEventListener('abort', () => listeners.delete(wake), { once: true });
  };
  return {
    agent,
    source: {
      start: ({ enqueue, signal }) =>
        listen(() => {
          for (const inside of insides()) enqueue(objectKey(inside));
        }, signal),
    },
    controller: defineController({
      name: 'lattice-agent',
      for: Secrets,
      watches: [watchMapped(Secrets, (secret) => (isOurs(secret) ? [parentConfigKey] : []))],
      sources: [
        {
          start({ enqueue, signal }) {
            listen(() => {
              if (!agent.isConnected) enqueue(parentConfigKey);
            }, signal);
            signal.addEventListener('abort', () => agent.stop(), { once: true });
          },
        },
      ],
      async reconcile(context, key: ObjectKey) {
        const { signal } = context;
        const config = configOf(await readSecret(context, key));
        if (config === undefined) {
          agent.stop();
          return done();
        }
        const again = await agent.keep(config, signal);
        return again === undefined ? done() : after(again.againMs, 'the parent is dialled again');
      },
    }),
  };
}

const isOurs = ({ metadata: { namespace, name } }: Secret): boolean =>
  [parentConfigKey, agentCredentialsKey].some((key) => key.namespace === namespace && key.name === name);
