import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { text } from '../resource/read.ts';

export interface Extensions {
  /** aliases of the supported neutron extensions; requested once */
  aliases(options?: CallOptions): Promise<ReadonlySet<string>>;
  has(alias: string, options?: CallOptions): Promise<boolean>;
}

export function extensions(service: ServiceClient): Extensions {
  let known: Promise<ReadonlySet<string>> | undefined;
  const read = async (): Promise<ReadonlySet<string>> => {
    const answer = await service.request({ method: 'GET', path: '/extensions' });
    return new Set(answer.many('extensions', (extension) => text(extension, 'alias')));
  };
  const aliases = (): Promise<ReadonlySet<string>> => {
    if (!known) {
      known = read();
      // Failures are not cached.
      known.catch(() => {
        known = undefined;
      });
    }
    return known;
  };
  return { aliases, has: async (alias) => (await aliases()).has(alias) };
}
