import { systemNamespace } from '../controller-identity.ts';

export const webhookService: { namespace: string; name: string; port: number } = {
  namespace: systemNamespace,
  name: 'capstan-webhooks',
  port: 443,
};
