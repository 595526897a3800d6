import type { ObjectKey } from '../../../client/index.ts';
import type { StageHook } from '../release/addon-config.ts';

const prefix = 'cluster-addon-';

export const addonKey = ({ namespace, name }: ObjectKey): ObjectKey => ({
  ...(namespace !== undefined && { namespace }),
  name: `${prefix}${name}`,
});

/** annotation of a Cluster: upgrades do not wait for add-ons */
export const skipGateAnnotation = 'stacks.capstan.dev/skip-addon-gate';
/** annotation of a Cluster: time after which a stage is reported as stuck */
export const stageTimeoutAnnotation = 'stacks.capstan.dev/stage-timeout';
/** annotation of a ClusterAddon: the running stage and its start */
export const stageSinceAnnotation = 'stacks.capstan.dev/stage-since';
/** annotation of a ClusterAddon: class whose stages run */
export const runningClassAnnotation = 'stacks.capstan.dev/running-class';
/** annotation of a ClusterAddon: last completed hook and class */
export const servedHookAnnotation = 'stacks.capstan.dev/served-hook';

/** Value of the annotation of the last completed hook. */
export const servedHook = (hook: StageHook, className: string): string => `${hook} ${className}`;

/** upstream's annotation of a ClusterAddon: `created` or `upgraded` */
export const addonStageAnnotation = 'ClusterAddonStage';
