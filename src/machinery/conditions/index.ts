export * from './conditions.ts';
