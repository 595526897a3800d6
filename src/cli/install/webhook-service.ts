import { systemNamespace } from '../controller-identity.ts';

/** The Service in front of all replicas of the webhooks. */
export const webhookService: { namespace: string; name: string; port: number } = {
  namespace: systemNamespace,
  name: 'capstan-webhooks',
  port: 443,
};
