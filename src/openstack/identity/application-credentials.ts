import type { JsonObject } from '../../machinery/index.ts';
import { filterQuery, segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { deleteAt } from '../resource/collection.ts';
import { flag, objects, text, textIf, textOrEmpty, timeIf } from '../resource/read.ts';

export interface ApplicationCredential {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly projectId: string;
  readonly expiresAt: string | undefined;
  readonly unrestricted: boolean;
  readonly roles: readonly string[];
}

export interface ApplicationCredentialSpec {
  readonly name: string;
  readonly description?: string | undefined;
  /** default: all roles of the token */
  readonly roles?: readonly string[] | undefined;
  /** such as `2030-01-01T00:00:00` */
  readonly expiresAt?: string | undefined;
  readonly unrestricted?: boolean | undefined;
}

/** Application credentials of one user. */
export interface ApplicationCredentials {
  list(filter?: { readonly name?: string | undefined }, options?: CallOptions): Promise<ApplicationCredential[]>;
  get(id: string, options?: CallOptions): Promise<ApplicationCredential>;
  /** returns the secret, which keystone never shows again */
  create(
    desired: ApplicationCredentialSpec,
    options?: CallOptions,
  ): Promise<ApplicationCredential & { readonly secret: string }>;
  delete(id: string, options?: CallOptions): Promise<boolean>;
}

export function applicationCredentials(service: ServiceClient, userId: string): ApplicationCredentials {
  const path = `/users/${segment(userId)}/application_credentials`;
  const one = 'application_credential';
  return {
    async list(filter, options = {}) {
      const answer = await service.request({ method: 'GET', path, query: filterQuery(filter), ...options });
      return answer.many('application_credentials', parse);
    },
    async get(id, options = {}) {
      return (await service.request({ method: 'GET', path: `${path}/${segment(id)}`, ...options })).one(one, parse);
    },
    async create(desired, options = {}) {
      const json = {
        [one]: {
          name: desired.name,
          description: desired.description,
          roles: desired.roles?.map((name) => ({ name })),
          expires_at: desired.expiresAt,
          unrestricted: desired.unrestricted,
        },
      };
      const answer = await service.request({ method: 'POST', path, json, ...options });
      return answer.one(one, (value) => ({ ...parse(value), secret: text(value, 'secret') }));
    },
    delete: (id, options = {}) => deleteAt(service, `${path}/${segment(id)}`, options),
  };
}

function parse(value: JsonObject): ApplicationCredential {
  return {
    id: text(value, 'id'),
    name: text(value, 'name'),
    description: textIf(value, 'description'),
    projectId: textOrEmpty(value, 'project_id'),
    expiresAt: timeIf(value, 'expires_at'),
    unrestricted: flag(value, 'unrestricted'),
    roles: objects(value, 'roles', (role) => textOrEmpty(role, 'name')),
  };
}
