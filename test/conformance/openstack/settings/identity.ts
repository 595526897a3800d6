import { join } from 'node:path';
import type { IniFile } from '../ini.ts';
import { baseUrl, type Layout, loopback } from '../layout.ts';
import { commonSections, databaseUrl } from './shared.ts';

export function identitySettings(layout: Layout): IniFile {
  return {
    DEFAULT: { public_endpoint: baseUrl(layout, 'identity') },
    database: { connection: databaseUrl(layout, 'keystone') },
    cache: {
      enabled: true,
      backend: 'dogpile.cache.memcached',
      memcache_servers: `${loopback}:${layout.ports.tokenCache}`,
    },
    token: { provider: 'fernet', expiration: 86_400 },
    fernet_tokens: { key_repository: join(layout.data, 'keystone-tokens') },
    credential: { key_repository: join(layout.data, 'keystone-credentials') },
    // The cheapest hash, because nothing is protected here and every login computes it.
    identity: { password_hash_rounds: 4 },
  };
}

export function placementSettings(layout: Layout): IniFile {
  return {
    placement_database: { connection: databaseUrl(layout, 'placement') },
    api: { auth_strategy: 'keystone' },
    ...commonSections(layout, 'placement'),
  };
}
