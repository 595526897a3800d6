export * from './ip.ts';
export * from './peer-policy.ts';
