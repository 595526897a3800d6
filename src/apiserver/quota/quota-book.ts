import { asJson, clone, deepEqual, ignoreNotFound, isJsonObject } from '../../machinery/index.ts';
import { loopbackUser } from '../auth/index.ts';
import type { ResourceApi } from '../service/resource-api.ts';
import type { Caller } from '../service/types.ts';
import { updateObject } from '../service/update.ts';
import { type KeySpace, keyPrefix, nameOfKey, namespaceOfKey, objectKey } from '../storage/keys.ts';
import { QuotaLedger } from './ledger.ts';
import type { QuotaSpec } from './scopes.ts';

const quotas: KeySpace = { group: '', plural: 'resourcequotas' };
const settings = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' } as const;
const none: readonly QuotaLedger[] = [];

interface Account {
  ledger: QuotaLedger;
  namespace: string;
  /** changed since the last status update */
  dirty: boolean;
  writing: Promise<void> | undefined;
}

/** The ledgers of all quotas, and the writer of their status. */
export class QuotaBook {
  readonly #api: ResourceApi;
  readonly #onError: (error: unknown) => void;
  readonly #accounts = new Map<string, Account>();
  readonly #byNamespace = new Map<string, QuotaLedger[]>();
  readonly #stops: (() => void)[] = [];
  readonly #stop = new AbortController();
  readonly #caller: Caller;

  constructor(api: ResourceApi, onError: (error: unknown) => void) {
    this.#api = api;
    this.#onError = onError;
    this.#caller = { user: loopbackUser, userAgent: 'kube-apiserver', signal: this.#stop.signal, warn: () => {} };
    const { store, registry } = api.context;
    const prefix = keyPrefix(quotas);
    const present = store.list(prefix);
    for (const { key, value } of present.records) this.#set(key, value.object.spec);
    this.#stops.push(
      store.watch(prefix, present.revision, (events) => {
        for (const event of events) {
          if (event.type === 'put') this.#set(event.record.key, event.record.value.object.spec);
          else this.#remove(event.key);
        }
      }),
      // Kinds may have been added or removed.
      registry.onChange(() => this.#reopenAll()),
    );
  }

  ledgersOf(namespace: string): readonly QuotaLedger[] {
    return this.#byNamespace.get(namespace) ?? none;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const stop of this.#stops) stop();
    for (const { ledger } of this.#accounts.values()) ledger.close();
    await Promise.all([...this.#accounts.values()].map(({ writing }) => writing));
  }

  #set(key: string, spec: unknown): void {
    const wanted = (isJsonObject(spec) ? spec : {}) as QuotaSpec;
    const account = this.#accounts.get(key);
    if (account?.ledger.isOf(wanted)) this.#touch(key);
    else this.#open(key, wanted);
  }

  #open(key: string, spec: QuotaSpec): void {
    this.#remove(key);
    const { store, clock, registry } = this.#api.context;
    const namespace = namespaceOfKey(key);
    const ledger = new QuotaLedger({
      store,
      clock,
      namespace,
      name: nameOfKey(key),
      spec,
      isServed: ({ group, plural }) => registry.get(group, plural)?.definition.namespaced === true,
      onChange: () => this.#touch(key),
    });
    this.#accounts.set(key, { ledger, namespace, dirty: false, writing: undefined });
    this.#regroup(namespace);
    this.#touch(key);
  }

  #remove(key: string): void {
    const account = this.#accounts.get(key);
    if (!account) return;
    account.ledger.close();
    this.#accounts.delete(key);
    this.#regroup(account.namespace);
  }

  #reopenAll(): void {
    for (const [key, { ledger }] of [...this.#accounts]) if (!ledger.isCurrent()) this.#open(key, ledger.spec);
  }

  #regroup(namespace: string): void {
    const ledgers = [...this.#accounts.values()]
      .filter((account) => account.namespace === namespace)
      .map(({ ledger }) => ledger)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    if (ledgers.length > 0) this.#byNamespace.set(namespace, ledgers);
    else this.#byNamespace.delete(namespace);
  }

  /** Schedules a status update; changes in the meantime share one write. */
  #touch(key: string): void {
    const account = this.#accounts.get(key);
    if (!account || this.#stop.signal.aborted) return;
    account.dirty = true;
    if (account.writing) return;
    account.writing = this.#write(key, account)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#onError(error);
      })
      .finally(() => {
        account.writing = undefined;
        if (account.dirty) this.#touch(key);
      });
  }

  async #write(key: string, account: Account): Promise<void> {
    const { context } = this.#api;
    const served = context.registry.find('', 'v1', 'resourcequotas');
    // Waits for the rest of a batch of events.
    await new Promise<void>((resolve) => setImmediate(resolve));
    account.dirty = false;
    const { namespace, ledger } = account;
    const target = served && { ...served, namespace, name: ledger.name };
    if (!target || this.#accounts.get(key) !== account || this.#stop.signal.aborted) return;
    const status = ledger.status();
    const live = context.store.head(objectKey(quotas, namespace, ledger.name))?.value.object;
    if (!live || deepEqual(live.status, status)) return;
    await updateObject({
      context,
      target,
      subresource: 'status',
      caller: this.#caller,
      settings,
      next: (current) => {
        const draft = clone(current);
        draft.status = asJson(status);
        return { draft, conditional: false };
      },
    }).catch(ignoreNotFound);
  }
}
