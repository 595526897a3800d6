import { CapstanError } from '../machinery/index.ts';

/** Controllers that can be switched on and off, by the part of a cluster they reconcile. */
export const controllerAreas = [
  'cluster',
  'topology',
  'infrastructure',
  'bootstrap',
  'control-plane',
  'addons',
  'stacks',
  'lattice',
  'images',
] as const;

export type ControllerArea = (typeof controllerAreas)[number];

/**
 * Parses `--controllers`: `all`, `none`, names, and names with a minus to exclude. Only exclusions start from all, as
 * in kube-controller-manager.
 */
export function parseControllerAreas(text: string): ReadonlySet<ControllerArea> {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (words.length === 0) throw usage('it names nothing');
  if (words.includes('none')) {
    if (words.length > 1) throw usage('"none" stands alone');
    return new Set();
  }
  const onlyLeavesOut = words.every((word) => word.startsWith('-'));
  const chosen = new Set<ControllerArea>(onlyLeavesOut ? controllerAreas : []);
  for (const word of words) {
    if (word === 'all' || word === '*') for (const area of controllerAreas) chosen.add(area);
    else if (!word.startsWith('-')) chosen.add(areaOf(word));
  }
  // Exclusions are applied last, so that the order of the words does not matter.
  for (const word of words) if (word.startsWith('-')) chosen.delete(areaOf(word.slice(1)));
  return chosen;
}

function areaOf(name: string): ControllerArea {
  const area = controllerAreas.find((known) => known === name);
  if (area === undefined) throw usage(`there are no controllers named "${name}"`);
  return area;
}

function usage(problem: string): CapstanError {
  return new CapstanError('CAP_USAGE', `--controllers: ${problem}`, {
    hint: `write all, none, or a list of ${controllerAreas.join(', ')}; -NAME leaves one out`,
  });
}
