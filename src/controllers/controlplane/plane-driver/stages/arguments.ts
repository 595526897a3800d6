import {
  overriddenArguments,
  retiredArguments,
  settingsWithoutEffect,
  unsuitableCharts,
} from '../../../../hosting/index.ts';
import { bad, type PlaneScope, setStage } from '../scope.ts';
import { warnOnce } from '../warnings.ts';

/**
 * Warns about user arguments that are ignored because they would break the plane, and about charts that will not work.
 */
export function reportArguments(scope: PlaneScope): undefined {
  const { request, memory } = scope;
  const found: readonly (readonly [reason: string, message: string | undefined])[] = [
    ['ArgumentOverridden', overriddenMessage(scope)],
    ['ArgumentRetired', retiredMessage(scope)],
    ['SettingWithoutEffect', sharedPodMessage(scope)],
    ...unsuitableCharts(scope.desired).map((text) => ['ChartUnsuitable', text] as const),
  ];
  const told = found.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  const reason = told[0]?.[0] ?? '';
  const message = told.map(([, text]) => text).join('; ');
  if (message === '') return;
  setStage(scope, 'arguments', bad(reason, message));
  if (memory.arguments === message) return;
  memory.arguments = message;
  warnOnce(request.context, request.owner, reason, message);
}

function overriddenMessage({ desired, facts }: PlaneScope): string | undefined {
  const found = Object.entries(overriddenArguments(desired, facts));
  if (found.length === 0) return undefined;
  const list = found.map(([program, names]) => `${program} ${names.map((name) => `--${name}`).join(' ')}`).join(', ');
  return `without effect, because the control plane sets them itself: ${list}; take them out`;
}

function sharedPodMessage({ desired }: PlaneScope): string | undefined {
  const names = settingsWithoutEffect(desired);
  if (names.length === 0) return undefined;
  return `without effect, because the program shares the Pods of the API server: deployment.${names.join(', deployment.')}; set it for deployment.apiServer or replicas of the control plane`;
}

function retiredMessage({ desired, facts }: PlaneScope): string | undefined {
  const names = retiredArguments(desired, facts);
  if (names.length === 0) return undefined;
  const list = names.map((name) => `--${name}`).join(' ');
  return `left out, because kube-apiserver of ${desired.version} does not know them any more: ${list}; take them out`;
}
