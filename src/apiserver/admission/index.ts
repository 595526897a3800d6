export { type AdmissionPlugin, controllerBackedPlugins } from './built-in.ts';
export * from './chain.ts';
export * from './types.ts';
