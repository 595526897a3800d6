import type { GoProgram } from '../go-build.ts';

/** The helm that is compared with. A newer version: change here, run, and look at what differs. */
export const helmProgram: GoProgram = {
  name: 'helm',
  module: 'helm.sh/helm/v3',
  version: 'v3.19.5',
  folder: 'cmd/helm',
};
