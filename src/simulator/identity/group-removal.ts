import type { Identity } from './identity.ts';

/** A group with its members' place in it and its roles; their tokens end, since they may be made of these. */
export function removeGroup(identity: Identity, id: string): void {
  for (const each of [...identity.memberships.by('group', id)]) {
    identity.revoke(identity.tokens.by('user', each.userId));
    identity.memberships.delete(each.id);
  }
  for (const each of [...identity.assignments.by('group', id)]) identity.assignments.delete(each.id);
  identity.groups.delete(id);
}
