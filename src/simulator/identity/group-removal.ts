import type { Identity } from './identity.ts';

/**
 * Deletes a group with its memberships and role assignments. Revokes the members' tokens, because their roles may
 * depend on the group.
 */
export function removeGroup(identity: Identity, id: string): void {
  for (const each of [...identity.memberships.by('group', id)]) {
    identity.revoke(identity.tokens.by('user', each.userId));
    identity.memberships.delete(each.id);
  }
  for (const each of [...identity.assignments.by('group', id)]) identity.assignments.delete(each.id);
  identity.groups.delete(id);
}
