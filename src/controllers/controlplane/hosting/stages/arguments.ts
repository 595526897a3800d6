import { overriddenArguments } from '../../../../hosting/index.ts';
import type { KubeObject } from '../../../../machinery/index.ts';
import type { Conditioned } from '../../../shared/index.ts';
import { bad, type PlaneScope, tell } from '../scope.ts';

const reason = 'ArgumentOverridden';

/** Says which arguments of the user have no effect, because the plane would not work with them. */
export function tellArguments(scope: PlaneScope): undefined {
  const { wish, request, memory } = scope;
  const found = Object.entries(overriddenArguments(wish, scope.facts));
  if (found.length === 0) return;
  const list = found.map(([program, names]) => `${program} ${names.map((name) => `--${name}`).join(' ')}`).join(', ');
  const message = `without effect, because the control plane sets them itself: ${list}; take them out`;
  tell(scope, 'arguments', bad(reason, message));
  if (memory.arguments === message) return;
  memory.arguments = message;
  if (!isTold(request.owner, message)) request.context.events.event(request.owner, 'Warning', reason, message);
}

/** What stands in a condition was said before. */
function isTold({ status }: KubeObject & Conditioned, message: string): boolean {
  return status?.conditions?.some((condition) => condition.reason === reason && condition.message === message) === true;
}
