import type { Client } from '../../client/index.ts';
import type { Random, Resource } from '../../machinery/index.ts';

export type FaultVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'apply'
  | 'delete'
  | 'deleteCollection'
  | 'createSubresource';

/** Conditions and kind of a fault. All given conditions must hold. */
export interface FaultRule {
  verb?: FaultVerb | readonly FaultVerb[];
  /** kind or plural */
  resource?: string;
  /** only these calls (1 is the first) among those that match verb and resource */
  nth?: number | readonly number[];
  /** probability per matching call; needs `random` */
  probability?: number;
  /** maximum number of faults */
  times?: number;
  /**
   * `before`: nothing was done; `after`: it was done and only the response is lost. Watches break after `afterEvents`.
   */
  when?: 'before' | 'after';
  /** for `watch` with `after`: events delivered before the stream breaks; default 0 */
  afterEvents?: number;
  error: () => Error;
}

export interface FaultyClient extends Client {
  /** number of injected faults by rule */
  readonly injected: readonly number[];
}

/** Wraps a client so that chosen calls fail. The array of rules may be changed at run time. */
export function faultyClient(client: Client, rules: readonly FaultRule[], random?: Random): FaultyClient {
  const calls = new Map<FaultRule, number>();
  const injected = new Map<FaultRule, number>();

  const faultFor = (verb: FaultVerb, resource: Resource): FaultRule | undefined => {
    for (const rule of rules) {
      if (rule.verb !== undefined && !(typeof rule.verb === 'string' ? rule.verb === verb : rule.verb.includes(verb)))
        continue;
      if (rule.resource !== undefined && rule.resource !== resource.kind && rule.resource !== resource.plural) continue;
      const call = (calls.get(rule) ?? 0) + 1;
      calls.set(rule, call);
      if (rule.nth !== undefined && !(typeof rule.nth === 'number' ? rule.nth === call : rule.nth.includes(call)))
        continue;
      const done = injected.get(rule) ?? 0;
      if (rule.times !== undefined && done >= rule.times) continue;
      if (rule.probability !== undefined) {
        if (!random) throw new TypeError('a fault with a probability needs a Random');
        if (random.next() >= rule.probability) continue;
      }
      injected.set(rule, done + 1);
      return rule;
    }
    return undefined;
  };

  const call = async <R>(verb: FaultVerb, resource: Resource, work: () => Promise<R>): Promise<R> => {
    const fault = faultFor(verb, resource);
    if (fault && fault.when !== 'after') throw fault.error();
    const result = await work();
    if (fault) throw fault.error();
    return result;
  };

  return {
    get injected() {
      return rules.map((rule) => injected.get(rule) ?? 0);
    },
    get: (resource, key, options) => call('get', resource, () => client.get(resource, key, options)),
    list: (resource, options) => call('list', resource, () => client.list(resource, options)),
    watch: (resource, options) => ({
      async *[Symbol.asyncIterator]() {
        const fault = faultFor('watch', resource);
        if (fault && fault.when !== 'after') throw fault.error();
        let rest = fault ? (fault.afterEvents ?? 0) : Number.POSITIVE_INFINITY;
        if (rest === 0) throw fault!.error();
        for await (const event of client.watch(resource, options)) {
          yield event;
          if (--rest <= 0) throw fault!.error();
        }
      },
    }),
    create: (resource, object, options) => call('create', resource, () => client.create(resource, object, options)),
    update: (resource, object, options) => call('update', resource, () => client.update(resource, object, options)),
    patch: (resource, key, type, patch, options) =>
      call('patch', resource, () => client.patch(resource, key, type, patch, options)),
    apply: (resource, object, options) => call('apply', resource, () => client.apply(resource, object, options)),
    delete: (resource, key, options) => call('delete', resource, () => client.delete(resource, key, options)),
    deleteCollection: (resource, options) =>
      call('deleteCollection', resource, () => client.deleteCollection(resource, options)),
    createSubresource: (resource, key, subresource, body, options) =>
      call('createSubresource', resource, () => client.createSubresource(resource, key, subresource, body, options)),
  };
}
