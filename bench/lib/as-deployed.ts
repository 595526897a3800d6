import { controllerEnvironment } from '../../src/cli/controller/controller-memory.ts';

/** Environment of `capstan controller` as its Deployment sets it; Node options of the caller are kept. */
export const asDeployed: Readonly<Record<string, string>> = {
  ...controllerEnvironment,
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${controllerEnvironment['NODE_OPTIONS']}`.trim(),
};
