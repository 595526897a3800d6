export * from './peer-policy.ts';
