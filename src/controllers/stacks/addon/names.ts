import type { ObjectKey } from '../../../client/index.ts';

const prefix = 'cluster-addon-';

export const addonKey = ({ namespace, name }: ObjectKey): ObjectKey => ({
  ...(namespace !== undefined && { namespace }),
  name: `${prefix}${name}`,
});

/** on a Cluster: upgrades do not wait for the add-ons */
export const skipGateAnnotation = 'stacks.capstan.dev/skip-addon-gate';
/** on a Cluster: how long a stage may take before it counts as stuck */
export const stageTimeoutAnnotation = 'stacks.capstan.dev/stage-timeout';
/** on a ClusterAddon: the stage at work and since when */
export const stageSinceAnnotation = 'stacks.capstan.dev/stage-since';
/** on a ClusterAddon: hook and class that were served last */
export const servedHookAnnotation = 'stacks.capstan.dev/served-hook';
/** on a ClusterAddon, upstream's: `created` or `upgraded` */
export const addonStageAnnotation = 'ClusterAddonStage';
