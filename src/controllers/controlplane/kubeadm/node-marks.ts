import { type KubeadmConfig, type Machine, type Node, parseKubernetesVersion } from '../../../api/index.ts';
import type { Verdict } from '../../shared/index.ts';
import { controlPlaneMark, formerMark } from '../machine-plane/health/control-plane-nodes.ts';
import { isInitConfig } from './kubeadm-config.ts';

/** First minor version in which kubeadm uses only the new label. */
const newMarkMinor = 24;

/** Returns the control plane label and taint keys that kubeadm of this version uses. */
function marksOf({ spec }: Machine): string[] {
  const minor = parseKubernetesVersion(spec.version ?? '')?.minor ?? newMarkMinor;
  return minor < newMarkMinor ? [controlPlaneMark, formerMark] : [controlPlaneMark];
}

/** Tells whether kubeadm has finished marking the Node as control plane. */
export function marksVerdict(machine: Machine, node: Node, config: KubeadmConfig | undefined): Verdict {
  const marks = marksOf(machine);
  const name = node.metadata.name ?? '';
  const labelled = marks.some((mark) => node.metadata.labels?.[mark] !== undefined);
  const tainted =
    !shouldBeTainted(machine, config, marks) ||
    node.spec?.taints?.some(({ key, effect }) => marks.includes(key) && effect === 'NoSchedule') === true;
  if (labelled && tainted) return { status: 'True', reason: 'Set' };
  const taint = `the ${controlPlaneMark}:NoSchedule taint`;
  const label = `the ${controlPlaneMark} label`;
  const missing = labelled ? taint : tainted ? label : `${label} and ${taint}`;
  return { status: 'False', reason: 'NotSet', message: `Node ${name} does not have ${missing}` };
}

function shouldBeTainted(machine: Machine, config: KubeadmConfig | undefined, marks: readonly string[]): boolean {
  const isMark = ({ key, effect }: { key: string; effect: string }): boolean =>
    marks.includes(key) && effect === 'NoSchedule';
  if (machine.spec.taints?.some(isMark)) return true;
  if (!config) return false;
  const part = isInitConfig(config) ? config.spec.initConfiguration : config.spec.joinConfiguration;
  const taints = part?.nodeRegistration?.taints;
  return taints === undefined || taints.some(isMark);
}
