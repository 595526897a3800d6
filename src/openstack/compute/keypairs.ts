import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Deletable, deleteAt } from '../resource/collection.ts';
import { type ListOptions, pages } from '../resource/pages.ts';
import { text, textIf, textOrEmpty } from '../resource/read.ts';

/** A public SSH key. Key pairs have no id; their name is unique per user. */
export interface Keypair {
  readonly name: string;
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly type: string | undefined;
}

export interface KeypairSpec {
  readonly name: string;
  /** in authorized_keys format */
  readonly publicKey: string;
}

export interface Keypairs extends Deletable {
  list(options?: ListOptions): AsyncGenerator<Keypair>;
  get(name: string, options?: CallOptions): Promise<Keypair>;
  create(desired: KeypairSpec, options?: CallOptions): Promise<Keypair>;
}

const path = '/os-keypairs';

export function keypairs(service: ServiceClient): Keypairs {
  return {
    async *list(options = {}) {
      for await (const page of pages(service, { path, many: 'keypairs' }, options)) {
        // nova wraps each list item in another object.
        yield* page.many('keypairs', (item) => parseKeypair(isJsonObject(item['keypair']) ? item['keypair'] : item));
      }
    },
    async get(name, options = {}) {
      const answer = await service.request({ method: 'GET', path: `${path}/${segment(name)}`, ...options });
      return answer.one('keypair', parseKeypair);
    },
    async create(desired, options = {}) {
      const json = { keypair: { name: desired.name, public_key: desired.publicKey } };
      const answer = await service.request({ method: 'POST', path, json, ...options });
      return answer.one('keypair', parseKeypair);
    },
    delete: (name, options = {}) => deleteAt(service, `${path}/${segment(name)}`, options),
  };
}

function parseKeypair(value: JsonObject): Keypair {
  return {
    name: text(value, 'name'),
    publicKey: textOrEmpty(value, 'public_key'),
    fingerprint: textOrEmpty(value, 'fingerprint'),
    type: textIf(value, 'type'),
  };
}
