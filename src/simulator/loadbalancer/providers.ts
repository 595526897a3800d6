import type { Answer, Route } from '../core/service.ts';
import { checkRead } from './access.ts';

/** What a load balancer can be made with. */
export const providers: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'amphora', description: 'The Octavia Amphora driver' },
  { name: 'octavia', description: 'Alias of the amphora driver' },
];

export function providerRoutes(base: string): Route[] {
  return [
    {
      method: 'GET',
      path: `${base}/providers`,
      handle({ caller }): Answer {
        checkRead(caller, caller.projectId);
        return { status: 200, body: { providers } };
      },
    },
  ];
}
