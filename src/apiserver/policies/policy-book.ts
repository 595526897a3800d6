import { errorMessage } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { keyPrefix } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { type Binding, type Policy, parseBinding, parsePolicy } from './policy.ts';

const group = 'admissionregistration.k8s.io';
const policyPrefix = keyPrefix({ group, plural: 'validatingadmissionpolicies' });
const bindingPrefix = keyPrefix({ group, plural: 'validatingadmissionpolicybindings' });

/** A policy with its active bindings. */
export interface PolicyInForce {
  policy: Policy;
  bindings: readonly Binding[];
}

/** All active policies, in sync with the store and sorted by name. */
export class PolicyBook {
  readonly #store: Store<StoredObject>;
  readonly #onError: (error: unknown, what: string) => void;
  readonly #stops: (() => void)[];
  /** keyed by the stored object, so that expressions are compiled once */
  readonly #parsed = new WeakMap<StoredObject, Policy>();
  #inForce: readonly PolicyInForce[] = [];

  constructor(store: Store<StoredObject>, onError: (error: unknown, what: string) => void) {
    this.#store = store;
    this.#onError = onError;
    this.#reload();
    const reload = (): void => this.#reload();
    this.#stops = [policyPrefix, bindingPrefix].map((prefix) => store.watch(prefix, store.revision, reload));
  }

  get inForce(): readonly PolicyInForce[] {
    return this.#inForce;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #reload(): void {
    const bindings = this.#store.list(bindingPrefix).records.map(({ value }) => parseBinding(value.object));
    const inForce: PolicyInForce[] = [];
    for (const { value } of this.#store.list(policyPrefix).records) {
      const { name } = value.object.metadata;
      const bound = bindings.filter(({ policyName }) => policyName === name);
      if (bound.length === 0) continue;
      try {
        inForce.push({ policy: this.#parse(value), bindings: bound });
      } catch (error) {
        this.#onError(error, `admission policy ${name}: ${errorMessage(error)}`);
      }
    }
    this.#inForce = inForce;
  }

  #parse(stored: StoredObject): Policy {
    let policy = this.#parsed.get(stored);
    if (!policy) {
      policy = parsePolicy(stored.object);
      this.#parsed.set(stored, policy);
    }
    return policy;
  }
}
