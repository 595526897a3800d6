import type { Caller } from '../core/caller.ts';
import { forbidden } from './refusals.ts';

const writers = ['load-balancer_member', 'load-balancer_admin'];
const readers = [...writers, 'load-balancer_observer', 'load-balancer_global_observer'];

/** May read and change load balancers of any project. */
export function isOperator(caller: Caller): boolean {
  return caller.isAdmin || caller.roles.has('load-balancer_admin');
}

/** May read load balancers of any project. */
export function seesEverything(caller: Caller): boolean {
  return isOperator(caller) || caller.roles.has('load-balancer_global_observer');
}

/** Octavia has roles of its own, so membership of the project is not enough. */
export function checkRead(caller: Caller, projectId: string | undefined): void {
  if (seesEverything(caller)) return;
  if (projectId !== caller.projectId || !readers.some((role) => caller.roles.has(role))) throw forbidden();
}

export function checkWrite(caller: Caller, projectId: string): void {
  if (isOperator(caller)) return;
  if (projectId !== caller.projectId || !writers.some((role) => caller.roles.has(role))) throw forbidden();
}
