import { etcdErrors } from './errors.ts';

/** Keys from `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

export interface EtcdPermission extends KeyRange {
  readonly reads: boolean;
  readonly writes: boolean;
}

export interface EtcdAccessSnapshot {
  readonly isEnabled: boolean;
  readonly users: Readonly<Record<string, readonly string[]>>;
  readonly roles: Readonly<Record<string, readonly EtcdPermission[]>>;
}

/** the user with all rights */
const root = 'root';

/** Users and roles of an etcd cluster. A user is the common name of a client certificate. */
export class EtcdAccess {
  readonly #users = new Map<string, Set<string>>();
  readonly #roles = new Map<string, EtcdPermission[]>();
  readonly #changed: () => void;
  #isEnabled: boolean;

  constructor(snapshot: EtcdAccessSnapshot | undefined, changed: () => void) {
    this.#changed = changed;
    this.#isEnabled = snapshot?.isEnabled ?? false;
    for (const [name, roles] of Object.entries(snapshot?.users ?? {})) this.#users.set(name, new Set(roles));
    for (const [name, permissions] of Object.entries(snapshot?.roles ?? {})) this.#roles.set(name, [...permissions]);
  }

  get isEnabled(): boolean {
    return this.#isEnabled;
  }

  get isUsed(): boolean {
    return this.#isEnabled || this.#users.size > 0 || this.#roles.size > 0;
  }

  get users(): string[] {
    return [...this.#users.keys()].sort();
  }

  get roles(): string[] {
    return [...this.#roles.keys()].sort();
  }

  snapshot(): EtcdAccessSnapshot {
    return {
      isEnabled: this.#isEnabled,
      users: Object.fromEntries([...this.#users].map(([name, roles]) => [name, [...roles]])),
      roles: Object.fromEntries(this.#roles),
    };
  }

  enable(): void {
    const rootRoles = this.#users.get(root);
    if (!rootRoles) throw etcdErrors.rootUserMissing();
    if (!rootRoles.has(root)) throw etcdErrors.rootRoleMissing();
    this.#isEnabled = true;
    this.#changed();
  }

  disable(): void {
    this.#isEnabled = false;
    this.#changed();
  }

  addUser(name: string): void {
    if (name === '') throw etcdErrors.userNameEmpty();
    if (this.#users.has(name)) throw etcdErrors.userExists();
    this.#users.set(name, new Set());
    this.#changed();
  }

  deleteUser(name: string): void {
    if (this.#isEnabled && name === root) throw etcdErrors.invalidAuthManagement();
    if (!this.#users.delete(name)) throw etcdErrors.userNotFound();
    this.#changed();
  }

  rolesOf(user: string): string[] {
    const roles = this.#users.get(user);
    if (!roles) throw etcdErrors.userNotFound();
    return [...roles].sort();
  }

  grantRole(user: string, role: string): void {
    const roles = this.#users.get(user);
    if (!roles) throw etcdErrors.userNotFound();
    if (role !== root && !this.#roles.has(role)) throw etcdErrors.roleNotFound();
    roles.add(role);
    this.#changed();
  }

  revokeRole(user: string, role: string): void {
    const roles = this.#users.get(user);
    if (!roles) throw etcdErrors.userNotFound();
    if (!roles.delete(role)) throw etcdErrors.roleNotGranted();
    this.#changed();
  }

  addRole(name: string): void {
    if (name === '') throw etcdErrors.roleNameEmpty();
    if (this.#roles.has(name)) throw etcdErrors.roleExists();
    this.#roles.set(name, []);
    this.#changed();
  }

  deleteRole(name: string): void {
    if (!this.#roles.delete(name)) throw etcdErrors.roleNotFound();
    for (const roles of this.#users.values()) roles.delete(name);
    this.#changed();
  }

  permissionsOf(role: string): readonly EtcdPermission[] {
    const permissions = this.#roles.get(role);
    if (!permissions) throw etcdErrors.roleNotFound();
    return permissions;
  }

  grantPermission(role: string, permission: EtcdPermission): void {
    const permissions = this.#roles.get(role);
    if (!permissions) throw etcdErrors.roleNotFound();
    const index = permissions.findIndex(({ from, to }) => from === permission.from && to === permission.to);
    if (index < 0) permissions.push(permission);
    else permissions[index] = permission;
    this.#changed();
  }

  revokePermission(role: string, { from, to }: KeyRange): void {
    const permissions = this.#roles.get(role);
    if (!permissions) throw etcdErrors.roleNotFound();
    const index = permissions.findIndex((each) => each.from === from && each.to === to);
    if (index < 0) throw etcdErrors.permissionNotGranted();
    permissions.splice(index, 1);
    this.#changed();
  }

  /** Throws unless the user may access all keys of the range. */
  check(user: string, range: KeyRange, wants: 'read' | 'write'): void {
    if (!this.#isEnabled) return;
    const roles = this.#users.get(user);
    if (!roles) throw etcdErrors.userEmpty();
    if (roles.has(root)) return;
    for (const role of roles) {
      for (const { from, to, reads, writes } of this.#roles.get(role) ?? []) {
        if ((wants === 'read' ? reads : writes) && from <= range.from && isEndWithin(range.to, to)) return;
      }
    }
    throw etcdErrors.permissionDenied();
  }

  /** Throws unless the user may change permissions and membership. */
  checkAdministrator(user: string): void {
    if (!this.#isEnabled) return;
    const roles = this.#users.get(user);
    if (!roles) throw etcdErrors.userEmpty();
    if (!roles.has(root)) throw etcdErrors.permissionDenied();
  }
}

/** An end of `\0` means all keys from the start on. */
function isEndWithin(end: string, limit: string): boolean {
  if (limit === '\0') return true;
  return end !== '\0' && end <= limit;
}
