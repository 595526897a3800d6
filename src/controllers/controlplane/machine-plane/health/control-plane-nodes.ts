import type { Node } from '../../../../api/index.ts';

export const controlPlaneMark = 'node-role.kubernetes.io/control-plane';
export const formerMark = 'node-role.kubernetes.io/master';

export const isControlPlaneNode = ({ metadata }: Node): boolean =>
  metadata.labels?.[controlPlaneMark] !== undefined || metadata.labels?.[formerMark] !== undefined;
