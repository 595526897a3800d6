export { hostedNaming } from './hosted.ts';
export { clusterSecretType, k0smotronNaming, shortenedName } from './k0smotron.ts';
export { kamajiNaming } from './kamaji.ts';
export type * from './types.ts';
