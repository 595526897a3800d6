import type { JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { flag, text, textIf, textOrEmpty } from '../resource/read.ts';
import { type ApplicationCredentials, applicationCredentials } from './application-credentials.ts';
import type { TokenInfo } from './token.ts';
import type { TokenKeeper } from './token-keeper.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly domainId: string;
  readonly description: string | undefined;
  readonly enabled: boolean;
}

/** Client for keystone. */
export interface Identity {
  /** for requests that have no method here */
  readonly service: ServiceClient;
  /** user, project and roles from the token, without a request */
  whoami(options?: CallOptions): Promise<TokenInfo>;
  /** projects the user may access */
  projects(options?: CallOptions): Promise<Project[]>;
  project(id: string, options?: CallOptions): Promise<Project>;
  applicationCredentials(userId: string): ApplicationCredentials;
}

export function createIdentity(service: ServiceClient, tokens: TokenKeeper): Identity {
  return {
    service,
    whoami: async (options = {}) => (await tokens.current(options.signal)).info,
    async projects(options = {}) {
      const answer = await service.request({ method: 'GET', path: '/auth/projects', ...options });
      return answer.many('projects', parseProject);
    },
    async project(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: `/projects/${segment(id)}`, ...options });
      return answer.one('project', parseProject);
    },
    applicationCredentials: (userId) => applicationCredentials(service, userId),
  };
}

function parseProject(value: JsonObject): Project {
  return {
    id: text(value, 'id'),
    name: text(value, 'name'),
    domainId: textOrEmpty(value, 'domain_id'),
    description: textIf(value, 'description'),
    enabled: flag(value, 'enabled', { fallback: true }),
  };
}
