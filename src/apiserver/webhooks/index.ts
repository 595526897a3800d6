export * from './admission-webhooks.ts';
export * from './configuration.ts';
export * from './conversion.ts';
export * from './service-resolver.ts';
export * from './webhook-client.ts';
