import type { GoProgram } from '../go-build.ts';

/** Reference version of helm. To upgrade, change it here, run, and check the differences. */
export const helmProgram: GoProgram = {
  name: 'helm',
  module: 'helm.sh/helm/v3',
  version: 'v3.19.5',
  folder: 'cmd/helm',
};
