export * from './cron.ts';
export * from './labels.ts';
export * from './names.ts';
export * from './network.ts';
export * from './numbers.ts';
export * from './object-meta.ts';
export * from './paths.ts';
export * from './quantity.ts';
